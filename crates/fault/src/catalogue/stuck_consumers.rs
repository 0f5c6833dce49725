//! `stuck_consumers`: consumers that hang and keep their partitions.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "stuck_consumers",
    doc: "Some consumers hang in their handler. They still send heartbeats, so that the group \
          takes them for alive and leaves them their partitions, which nobody reads. A restart of \
          the consumers ends it.",
    targets: Targets::Kinds(&["queue"]),
    params: &[ParamSpec::required("ratio", ParamKind::Ratio, "Share of the consumers.")],
    levers: |aim| {
        aim.pull("queue.stuck", &["ratio"]);
    },
    symptoms: &[
        "The lag of the partitions of a few consumers grows; nothing is logged about them.",
        "All consumers run.",
    ],
    twin: Some("poison_message"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("tasks", "ratio=0.5", "tasks queue.stuck: ratio=0.5")];
