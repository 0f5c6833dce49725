//! `restart-all`: the reflex of turning everything off and on again.

use crate::agent::{AgentSpec, Planned, variants_of};
use model::ParamValue;

pub(super) const AGENT: AgentSpec = AgentSpec {
    name: "restart-all",
    doc: "Restarts every component once, then resolves.",
    make: |_| {
        Planned::boxed(|site| {
            let whole = |value: Option<&ParamValue>| value.is_none();
            let mut plan = variants_of(site, "restart");
            plan.retain(|action| whole(action.args().0.get("group")));
            plan
        })
    },
};
