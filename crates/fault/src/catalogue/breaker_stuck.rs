//! `breaker_stuck`: a circuit breaker that does not close again.

use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "breaker_stuck",
    doc: "The breaker of one caller stays open although its callee is well. Calls fail at once \
          and none arrive. A restart of the caller or switching the breaker off ends it.",
    targets: Targets::Edges,
    params: &[],
    levers: |aim| {
        aim.pull("edge.breaker_stuck", &[]);
    },
    symptoms: &["Calls are refused by the caller itself; the callee sees none and is well."],
    twin: Some("link_abort"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("app -> db", "", "app edge.breaker_stuck over 2:")];
