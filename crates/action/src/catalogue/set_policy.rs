//! `set_policy`: changes how a component calls others, or how much it queues.

use crate::arguments::{COMPONENT, able, one_order, sets_something};
use crate::error::ActionError;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect};
use model::{EdgeSpec, InstanceSpec, ParamKind, ParamSpec, ParamValue, Params};

/// What can be set; at least one must be given.
const SETTINGS: [&str; 6] =
    ["timeout", "retries", "backoff", "retry_budget", "breaker", "queue_limit"];

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "set_policy",
    doc: "Sets how a component calls others (time-out, retries, breaker) or how much it queues.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        COMPONENT,
        ParamSpec::text(
            "callee",
            ParamKind::Text,
            "",
            "Only for calls to this component or third party; empty: for all that it calls.",
        ),
        ParamSpec::optional(
            "timeout",
            ParamKind::Duration { min: 0.001, max: 60.0 },
            "Time-out of one attempt.",
        ),
        ParamSpec::optional(
            "retries",
            ParamKind::Count { min: 0, max: 10 },
            "Attempts after the first.",
        ),
        ParamSpec::optional(
            "backoff",
            ParamKind::Duration { min: 0.0, max: 10.0 },
            "Mean wait before each retry.",
        ),
        ParamSpec::optional(
            "retry_budget",
            ParamKind::Ratio,
            "Retries allowed per success; 1 is no budget.",
        ),
        ParamSpec::optional("breaker", ParamKind::Flag, "Whether calls go through a breaker."),
        ParamSpec::optional(
            "queue_limit",
            ParamKind::Count { min: 0, max: 1_000_000 },
            "Requests that may wait in the component before it refuses more.",
        ),
    ],
    effect,
    variants,
};

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    let of = site.component(args, "component")?;
    if !site.third_parties(of).contains(&args.text("callee"))
        && let Some(callee) = site.component_if_given(args, "callee")?
    {
        site.edge(of, callee, "callee")?;
    }
    sets_something(args, &SETTINGS)?;
    let mut passed = vec!["callee"];
    passed.extend(SETTINGS);
    one_order(site, args, "component", "set_policy", &passed)
}

fn variants(site: &Site<'_>) -> Vec<Params> {
    let mut variants = Vec::new();
    for spec in able(site, "set_policy") {
        let base = Params::default().with("component", &*spec.name);
        let from = site.topology.instance(&spec.name);
        for edge in site.topology.edges.iter().filter(|e| e.from.is_some() && e.from == from) {
            let callee = &*site.instance(edge.to).name;
            variants.extend(of_edge(&base.clone().with("callee", callee), edge));
        }
        for name in from.map_or(&[][..], |from| site.third_parties(from)) {
            variants.extend(of_third_party(&base.clone().with("callee", *name)));
        }
        variants.extend(of_queue(&base, spec));
    }
    variants
}

fn of_edge(base: &Params, edge: &EdgeSpec) -> Vec<Params> {
    let timeout = |factor: f64| (edge.policy.timeout_s * factor).clamp(0.001, 60.0);
    let settings: [(&str, ParamValue); 5] = [
        ("retries", 0.0.into()),
        ("retry_budget", 0.1.into()),
        ("timeout", timeout(0.5).into()),
        ("timeout", timeout(2.0).into()),
        ("breaker", true.into()),
    ];
    settings.into_iter().map(|(name, value)| base.clone().with(name, value)).collect()
}

fn of_third_party(base: &Params) -> Vec<Params> {
    let settings: [(&str, ParamValue); 2] = [("timeout", 1.0.into()), ("breaker", true.into())];
    settings.into_iter().map(|(name, value)| base.clone().with(name, value)).collect()
}

fn of_queue(base: &Params, spec: &InstanceSpec) -> Vec<Params> {
    if !spec.params.has("queue") {
        return Vec::new();
    }
    let now = spec.params.number("queue");
    let limits = [(now / 4.0).floor(), (now * 4.0).min(1e6)];
    limits.into_iter().map(|limit| base.clone().with("queue_limit", limit)).collect()
}
