//! `drain`: takes one replica group out of service.

use crate::arguments::{COMPONENT, able, one_order};
use crate::error::ActionError;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect};
use model::{ParamKind, ParamSpec, Params};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "drain",
    doc: "Takes one replica group of a component out of service; running calls are finished.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[COMPONENT, ParamSpec::required("group", ParamKind::Text, "The replica group.")],
    effect,
    variants,
};

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    let of = site.component(args, "component")?;
    site.group(of, args, "group")?;
    one_order(site, args, "component", "drain", &["group"])
}

fn variants(site: &Site<'_>) -> Vec<Params> {
    let mut variants = Vec::new();
    for spec in able(site, "drain").filter(|spec| spec.groups.len() > 1) {
        let args = Params::default().with("component", &*spec.name);
        variants.extend(spec.groups.iter().map(|g| args.clone().with("group", &*g.name)));
    }
    variants
}
