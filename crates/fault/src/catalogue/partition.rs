//! `partition`: two components that cannot reach each other.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "partition",
    doc: "Nothing gets through, in both directions or in one. Everybody else reaches both \
          ends. It ends when the path is back; a failover meanwhile makes two truths.",
    targets: Targets::Edges,
    params: &[ParamSpec::text(
        "direction",
        ParamKind::Choice(&["both", "request", "reply"]),
        "both",
        "What is lost; with `reply` the work is done all the same.",
    )],
    levers: |aim| {
        aim.pull("edge.partition", &["direction"]);
    },
    symptoms: &[
        "All calls of one caller to one callee time out.",
        "Other callers of the same callee are well.",
    ],
    twin: Some("process_crash"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[
    ("app -> db", "", "app edge.partition over 2: direction=both"),
    ("app -> db", "direction=reply", "app edge.partition over 2: direction=reply"),
];
