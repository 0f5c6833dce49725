//! `set_cache`: changes how a cache keeps and fetches its entries.

use crate::arguments::{COMPONENT, able, one_order, sets_something};
use crate::error::ActionError;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect};
use model::{ParamKind, ParamSpec, ParamValue, Params};

/// What can be set; at least one must be given.
const SETTINGS: [&str; 5] = ["ttl", "jitter", "single_flight", "spread_hot_keys", "max_memory"];

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "set_cache",
    doc: "Sets how a cache keeps and fetches entries: life, jitter, single flight, memory.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        COMPONENT,
        ParamSpec::optional(
            "ttl",
            ParamKind::Duration { min: 1.0, max: 86_400.0 },
            "Time to live of entries that come from now on.",
        ),
        ParamSpec::optional(
            "jitter",
            ParamKind::Ratio,
            "Part of the time to live that is drawn, so that entries do not expire together.",
        ),
        ParamSpec::optional(
            "single_flight",
            ParamKind::Flag,
            "Whether misses of one key at one time wait for one fetch.",
        ),
        ParamSpec::optional(
            "spread_hot_keys",
            ParamKind::Flag,
            "Whether the hottest keys are kept in every replica.",
        ),
        ParamSpec::optional(
            "max_memory",
            ParamKind::Bytes { min: 1_048_576.0, max: 1e12 },
            "Memory that entries may take in one replica.",
        ),
    ],
    effect,
    variants,
};

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    site.component(args, "component")?;
    sets_something(args, &SETTINGS)?;
    one_order(site, args, "component", "set_cache", &SETTINGS)
}

fn variants(site: &Site<'_>) -> Vec<Params> {
    let mut variants = Vec::new();
    for spec in able(site, "set_cache") {
        let now = |name: &str, factor: f64| spec.params.number(name) * factor;
        let settings: [(&str, ParamValue); 7] = [
            ("ttl", now("ttl", 0.25).clamp(1.0, 86_400.0).into()),
            ("ttl", now("ttl", 4.0).clamp(1.0, 86_400.0).into()),
            ("jitter", 0.3.into()),
            ("single_flight", true.into()),
            ("spread_hot_keys", true.into()),
            ("max_memory", now("max_memory", 2.0).clamp(1_048_576.0, 1e12).into()),
            ("max_memory", now("max_memory", 4.0).clamp(1_048_576.0, 1e12).into()),
        ];
        let base = Params::default().with("component", &*spec.name);
        variants.extend(settings.into_iter().map(|(name, value)| base.clone().with(name, value)));
    }
    variants
}
