//! `capacity_dip`: a component that works slower for a while.

use crate::params::{CLASS, FACTOR, GROUP};
use crate::spec::{FaultSpec, SERVERS, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "capacity_dip",
    doc: "Throttling, a neighbor, or a cold start makes all work slower. Meant to last seconds \
          and to trigger what sustains itself. It ends by itself; what it left behind may not.",
    targets: Targets::Kinds(SERVERS),
    params: &[FACTOR, CLASS, GROUP],
    levers: |aim| {
        aim.pull("server.slow", &["factor", "class", "group"]);
    },
    symptoms: &["Latency and occupancy jump; errors follow when queues are full."],
    twin: Some("slow_dependency"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[
    ("app", "factor=4", "app server.slow: factor=4"),
    (
        "app",
        "factor=4 class=browse group=canary",
        "app server.slow: class=browse factor=4 group=canary",
    ),
];
