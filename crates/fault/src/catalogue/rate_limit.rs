//! `rate_limit`: a limit that is too low for the load.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "rate_limit",
    doc: "The gateway answers what exceeds a fixed rate with too many requests. Throughput is \
          flat to the digit. It ends with the limit; more retries and more replicas meet the \
          same limit.",
    targets: Targets::Kinds(&["gateway"]),
    params: &[ParamSpec::required(
        "rps",
        ParamKind::Number { min: 0.0, max: 1e6 },
        "Requests per second that pass.",
    )],
    levers: |aim| {
        aim.pull("gateway.rate_limit", &["rps"]);
    },
    symptoms: &["A flat ceiling of served requests; all else is refused at once."],
    twin: Some("link_abort"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("gateway", "rps=100", "gateway gateway.rate_limit: rps=100")];
