//! `slot_leak`: worker slots that are taken and never given back.

use crate::spec::{FaultSpec, SERVERS, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "slot_leak",
    doc: "Requests that end badly keep their slot. Capacity shrinks steadily while the load \
          stays. A restart gives the slots back; a rollback ends the leak.",
    targets: Targets::Kinds(SERVERS),
    params: &[ParamSpec::required(
        "rate",
        ParamKind::Number { min: 0.01, max: 10000.0 },
        "Slots leaked per minute.",
    )],
    levers: |aim| {
        aim.pull("server.slots_leak", &["rate"]);
    },
    symptoms: &["Busy slots climb and stay, with little CPU in use."],
    twin: Some("slow_dependency"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("payment", "rate=3", "payment server.slots_leak: rate=3")];
