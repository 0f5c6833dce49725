//! `link_latency`: a slow link between two components.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "link_latency",
    doc: "Every call over the link takes longer, out and home together. Only spans that cross \
          it are long; both ends are well by themselves. It ends with the link; shorter time- \
          outs or other routes soften it.",
    targets: Targets::Edges,
    params: &[ParamSpec::required(
        "delay",
        ParamKind::Duration { min: 0.001, max: 60.0 },
        "Added round-trip time.",
    )],
    levers: |aim| {
        aim.pull("edge.latency", &["delay"]);
    },
    symptoms: &["The caller waits; the callee sees the same calls as ever and answers as fast."],
    twin: Some("missing_index"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[
    ("app -> db", "delay=0.2", "app edge.latency over 2: delay=0.2"),
    ("users -> gateway", "delay=1", "gateway edge.latency over 0: delay=1"),
];
