//! `shed`: turns requests away at a component.

use crate::arguments::{COMPONENT, RATIOS, able, one_order};
use crate::error::ActionError;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect};
use model::{ParamKind, ParamSpec, Params};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "shed",
    doc: "Turns a share of requests away at a component before they cost anything; 0 ends it.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        COMPONENT,
        ParamSpec::text("class", ParamKind::Class, "", "Only this class or route; empty: all."),
        ParamSpec::required("ratio", ParamKind::Ratio, "The share to turn away."),
    ],
    effect,
    variants,
};

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    site.class(args, "class")?;
    one_order(site, args, "component", "shed", &["class", "ratio"])
}

fn variants(site: &Site<'_>) -> Vec<Params> {
    let mut variants = Vec::new();
    for spec in able(site, "shed") {
        let classes = site.topology.classes.iter().map(|class| class.name.as_str());
        for class in std::iter::once("").chain(classes) {
            for ratio in RATIOS {
                let args = Params::default().with("component", &*spec.name).with("class", class);
                variants.push(args.with("ratio", ratio));
            }
        }
    }
    variants
}
