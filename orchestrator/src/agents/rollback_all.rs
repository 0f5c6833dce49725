//! `rollback-all`: the reflex of blaming the last deploy.

use crate::agent::{AgentSpec, Planned, variants_of};

pub(super) const AGENT: AgentSpec = AgentSpec {
    name: "rollback-all",
    doc: "Rolls every component back once, then resolves.",
    make: |_| Planned::boxed(|site| variants_of(site, "rollback")),
};
