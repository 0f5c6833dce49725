//! `clock_skew`: a host whose clock is wrong.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "clock_skew",
    doc: "Time on the host runs ahead or behind, so tokens seem expired or not yet valid. Only \
          what passes through the host is hit. It ends when the clock is set or the host is \
          drained.",
    targets: Targets::Kinds(&["host"]),
    params: &[ParamSpec::required(
        "seconds",
        ParamKind::Number { min: -86400.0, max: 86400.0 },
        "Error of the clock; positive: ahead.",
    )],
    levers: |aim| {
        aim.pull("host.clock_skew", &["seconds"]);
    },
    symptoms: &["Tokens are rejected by way of one host only; spans begin before their parents."],
    twin: Some("stale_secret"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("node-2", "seconds=-90", "node-2 host.clock_skew: seconds=-90")];
