//! `reference`: does what the author of the scenario would do. The upper end of the scale.

use crate::agent::{AgentSpec, Planned};

pub(super) const AGENT: AgentSpec = AgentSpec {
    name: "reference",
    doc: "Knows the truth: follows the scenario's reference plan, then resolves.",
    make: |start| Planned::given(start.scenario.truth.reference.clone()),
};
