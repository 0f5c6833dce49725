//! `set_health_check`: changes how a balancer checks the replicas of a component.

use crate::arguments::{COMPONENT, able, one_order, sets_something};
use crate::error::ActionError;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect};
use model::{InstanceSpec, ParamKind, ParamSpec, ParamValue, Params};

/// What can be set; at least one must be given.
const SETTINGS: [&str; 5] = ["timeout", "period", "failures", "passes", "floor"];
const COUNT: ParamKind = ParamKind::Count { min: 1, max: 10 };

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "set_health_check",
    doc: "Sets how replicas are checked, and when failing ones get no requests.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        COMPONENT,
        ParamSpec::optional(
            "timeout",
            ParamKind::Duration { min: 0.001, max: 60.0 },
            "A check that takes longer has failed.",
        ),
        ParamSpec::optional(
            "period",
            ParamKind::Count { min: 1, max: 300 },
            "Seconds between two checks of one replica.",
        ),
        ParamSpec::optional(
            "failures",
            COUNT,
            "Failed checks in a row that take a replica out of rotation.",
        ),
        ParamSpec::optional("passes", COUNT, "Passed checks in a row that bring it back."),
        ParamSpec::optional(
            "floor",
            ParamKind::Ratio,
            "While a smaller share of the replicas is in rotation, all of them take requests; 1 \
             pins the capacity.",
        ),
    ],
    effect,
    variants,
};

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    site.component(args, "component")?;
    sets_something(args, &SETTINGS)?;
    one_order(site, args, "component", "set_health_check", &SETTINGS)
}

fn variants(site: &Site<'_>) -> Vec<Params> {
    let checked = |spec: &&InstanceSpec| spec.params.number("probe_timeout") > 0.0;
    able(site, "set_health_check").filter(checked).flat_map(of_component).collect()
}

fn of_component(spec: &InstanceSpec) -> Vec<Params> {
    let timeout = |factor: f64| (spec.params.number("probe_timeout") * factor).clamp(0.001, 60.0);
    let settings: [(&str, ParamValue); 6] = [
        ("timeout", timeout(0.1).into()),
        ("timeout", timeout(1.0).into()),
        ("failures", 1.0.into()),
        ("failures", 10.0.into()),
        ("passes", 1.0.into()),
        ("floor", 1.0.into()),
    ];
    let base = Params::default().with("component", &*spec.name);
    settings.into_iter().map(|(name, value)| base.clone().with(name, value)).collect()
}
