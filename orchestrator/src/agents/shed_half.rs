//! `shed-half`: the reflex of relieving the system at its entry.

use crate::agent::{AgentSpec, Planned, wait};
use action::{Action, Site};
use model::Params;

/// From the first order to shed until the order to stop it.
const SHED_S: i64 = 300;

pub(super) const AGENT: AgentSpec = AgentSpec {
    name: "shed-half",
    doc: "Sheds half of the load at the entry for five minutes, then resolves.",
    make: |_| Planned::boxed(plan),
};

fn plan(site: &Site<'_>) -> Vec<Action> {
    let mut entries: Vec<_> =
        site.topology.edges.iter().filter(|e| e.from.is_none()).map(|e| e.to).collect();
    entries.sort();
    entries.dedup();
    let shed = |ratio: f64| {
        let orders = entries.iter().filter(|of| site.can(**of, "shed")).filter_map(move |of| {
            let args = Params::default().with("component", &*site.instance(*of).name);
            Action::new("shed", &args.with("ratio", ratio)).ok()
        });
        orders.collect::<Vec<_>>()
    };
    let mut plan = shed(0.5);
    let spent: i64 = plan.iter().map(|action| i64::from(action.duration_s())).sum();
    if !plan.is_empty() {
        plan.push(wait(SHED_S - spent));
        plan.extend(shed(0.0));
    }
    plan
}
