//! `certificate_expiry`: a certificate that ran out.

use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "certificate_expiry",
    doc: "New connections fail from one exact instant on; old ones work until they are closed. \
          Renewing the certificate ends it. A restart closes the connections that still \
          worked.",
    targets: Targets::Kinds(&["gateway"]),
    params: &[],
    levers: |aim| {
        aim.pull("gateway.certificate_expiry", &[]);
    },
    symptoms: &[
        "Errors ramp up with the turnover of connections.",
        "Logs say that the certificate expired.",
    ],
    twin: Some("bad_secret"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("gateway", "", "gateway gateway.certificate_expiry:")];
