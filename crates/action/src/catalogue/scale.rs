//! `scale`: changes the number of replicas.

use crate::arguments::{COMPONENT, GROUP, able, one_order};
use crate::error::ActionError;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect};
use model::{ParamKind, ParamSpec, Params};

/// Most replicas of one group.
const REPLICAS_MAX: u32 = 64;

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "scale",
    doc: "Sets the number of replicas of a component or of one of its groups; more cost more.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        COMPONENT,
        ParamSpec::required(
            "replicas",
            ParamKind::Count { min: 1, max: REPLICAS_MAX },
            "How many there are to be.",
        ),
        GROUP,
    ],
    effect,
    variants,
};

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    let of = site.component(args, "component")?;
    site.group(of, args, "group")?;
    one_order(site, args, "component", "scale", &["replicas", "group"])
}

fn variants(site: &Site<'_>) -> Vec<Params> {
    let mut variants = Vec::new();
    for spec in able(site, "scale") {
        let now: u32 = spec.groups.iter().map(|g| g.replicas).sum();
        for replicas in [1, now * 2, now * 4] {
            if replicas != now && (1..=REPLICAS_MAX).contains(&replicas) {
                let args = Params::default().with("component", &*spec.name);
                variants.push(args.with("replicas", f64::from(replicas)));
            }
        }
    }
    variants
}
