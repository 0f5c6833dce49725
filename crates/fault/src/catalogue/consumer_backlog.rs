//! `consumer_backlog`: consumers that handle less than producers publish.

use crate::params::{CLASS, FACTOR};
use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "consumer_backlog",
    doc: "Handling a message takes many times as long, so that the consumers fall behind: \
          publishes are acknowledged as ever, and what they promise comes later and later. More \
          consumers help, up to the number of partitions. It ends when the handler is fast again; \
          the backlog must still be worked off then.",
    targets: Targets::Kinds(&["queue"]),
    params: &[FACTOR, CLASS],
    levers: |aim| {
        aim.pull("queue.slow_consumers", &["factor", "class"]);
    },
    symptoms: &[
        "Lag and the age of the oldest message grow in all partitions alike.",
        "Producers publish at their usual rate and see no error.",
    ],
    twin: Some("stuck_consumers"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("tasks", "factor=4", "tasks queue.slow_consumers: factor=4")];
