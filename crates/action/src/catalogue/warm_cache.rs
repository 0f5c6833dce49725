//! `warm_cache`: loads a cache ahead of the lookups.

use crate::arguments::{COMPONENT, each_able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};
use model::{ParamKind, ParamSpec};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "warm_cache",
    doc: "Loads the most popular entries of a cache from its store, at a rate the store must bear.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        COMPONENT,
        ParamSpec::required(
            "entries",
            ParamKind::Count { min: 1, max: 10_000_000 },
            "How many entries, the most popular first.",
        ),
        ParamSpec::number(
            "rate",
            ParamKind::Number { min: 1.0, max: 10_000.0 },
            50.0,
            "Entries per second.",
        ),
    ],
    effect: |args, site| one_order(site, args, "component", "warm", &["entries", "rate"]),
    variants: |site| {
        let each = each_able(site, "component", "warm").into_iter();
        let loads = [(2000.0, 20.0), (2000.0, 100.0), (10_000.0, 500.0)];
        each.flat_map(|args| {
            loads.map(|(entries, rate)| args.clone().with("entries", entries).with("rate", rate))
        })
        .collect()
    },
};
