//! `poison_message`: a message that no consumer survives.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "poison_message",
    doc: "A message ends its handler before the delivery is counted, so that it is delivered \
          again and again and its partition stands still at that offset; the others go on. A new \
          consumer meets it again. It ends when the message is parked, skipped or purged.",
    targets: Targets::Kinds(&["queue"]),
    params: &[ParamSpec::number(
        "partition",
        ParamKind::Count { min: 0, max: 63 },
        0.0,
        "The partition, from 0; beyond the last one: the last one.",
    )],
    levers: |aim| {
        aim.pull("queue.poison", &["partition"]);
    },
    symptoms: &[
        "The lag of one partition grows as fast as it is published to; that of the others does not.",
        "The log repeats one error at one offset.",
    ],
    twin: Some("stuck_consumers"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("tasks", "partition=3", "tasks queue.poison: partition=3")];
