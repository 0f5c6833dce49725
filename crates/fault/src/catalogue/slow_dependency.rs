//! `slow_dependency`: a component that became slow for good.

use crate::params::{CLASS, FACTOR, GROUP};
use crate::spec::{FaultSpec, SERVERS, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "slow_dependency",
    doc: "Answers take many times as long, so the slots and connections of all callers are \
          held for longer. The component is busy, its callers look broken. It ends when the \
          component is fast again.",
    targets: Targets::Kinds(SERVERS),
    params: &[FACTOR, CLASS, GROUP],
    levers: |aim| {
        aim.pull("server.slow", &["factor", "class", "group"]);
    },
    symptoms: &[
        "Slots and pools of all callers are full because holding times rose.",
        "The component itself is busy.",
    ],
    twin: Some("connection_leak"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("auth", "factor=8", "auth server.slow: factor=8")];
