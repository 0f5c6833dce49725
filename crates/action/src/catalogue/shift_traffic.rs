//! `shift_traffic`: changes the share of calls that one replica group gets.

use crate::arguments::{COMPONENT, RATIOS, able, one_order};
use crate::error::ActionError;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect};
use model::{ParamKind, ParamSpec, Params};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "shift_traffic",
    doc: "Gives one replica group of a component this share of its calls; the others get the rest.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        COMPONENT,
        ParamSpec::required("group", ParamKind::Text, "The replica group."),
        ParamSpec::required("ratio", ParamKind::Ratio, "Its share of the calls."),
    ],
    effect,
    variants,
};

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    let of = site.component(args, "component")?;
    site.group(of, args, "group")?;
    one_order(site, args, "component", "shift_traffic", &["group", "ratio"])
}

fn variants(site: &Site<'_>) -> Vec<Params> {
    let mut variants = Vec::new();
    for spec in able(site, "shift_traffic").filter(|spec| spec.groups.len() > 1) {
        for group in &spec.groups {
            for ratio in RATIOS {
                let args = Params::default().with("component", &*spec.name);
                variants.push(args.with("group", &*group.name).with("ratio", ratio));
            }
        }
    }
    variants
}
