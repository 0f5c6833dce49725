//! `scale-all`: the reflex of adding capacity.

use crate::agent::{AgentSpec, Planned, variants_of};
use action::{Action, Site};

pub(super) const AGENT: AgentSpec = AgentSpec {
    name: "scale-all",
    doc: "Doubles the replicas of every component that scales, then resolves.",
    make: |_| {
        Planned::boxed(|site| {
            let mut plan = variants_of(site, "scale");
            plan.retain(|action| doubles(site, action));
            plan
        })
    },
};

fn doubles(site: &Site<'_>, action: &Action) -> bool {
    let args = action.complete();
    let Some(of) = site.topology.instance(args.text("component")) else { return false };
    let now: u32 = site.instance(of).groups.iter().map(|group| group.replicas).sum();
    args.number("replicas") == f64::from(now * 2)
}
