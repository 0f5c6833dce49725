//! `restart`: stops and starts the processes of a component.

use crate::arguments::{COMPONENT, GROUP, able};
use crate::error::ActionError;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect};
use model::Params;

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "restart",
    doc: "Stops and starts the processes of a component; memory, pools and caches are lost.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[COMPONENT, GROUP],
    effect,
    variants,
};

const VERB: &str = "restart_process";

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    let of = site.component(args, "component")?;
    let wanted = site.group(of, args, "group")?;
    let spec = site.instance(of);
    if spec.groups.is_empty() {
        let message = if site.outside(of) {
            format!("{} is run by a third party; nobody here can restart it", spec.name)
        } else {
            format!("{} runs no processes; restart what runs on it", spec.name)
        };
        return Err(ActionError::field("component", message));
    }
    let matching = spec.groups.iter().filter(|g| wanted.is_empty() || g.name == wanted);
    let orders = matching.map(|group| {
        let passed = Params::default().with("instance", &*spec.name).with("group", &*group.name);
        site.order(group.host, VERB, passed)
    });
    Ok(Effect::Orders(orders.collect::<Result<_, _>>()?))
}

fn variants(site: &Site<'_>) -> Vec<Params> {
    let hosts: Vec<_> = able(site, VERB).map(|host| &host.name).collect();
    let mut variants = Vec::new();
    for spec in site.topology.instances.iter().filter(|spec| !hosts.contains(&&spec.name)) {
        let whole = Params::default().with("component", &*spec.name);
        if spec.groups.len() > 1 {
            let groups = spec.groups.iter().map(|g| whole.clone().with("group", &*g.name));
            variants.extend(groups);
        }
        variants.push(whole);
    }
    variants
}
