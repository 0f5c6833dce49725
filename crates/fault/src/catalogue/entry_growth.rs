//! `entry_growth`: entries that have become larger than the cache was made for.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "entry_growth",
    doc: "What is written into a cache has become larger. Fewer entries fit, those in use make \
          room for others before they expire, and more lookups miss. It ends when entries are \
          small again; more memory or more replicas make room, a flush does not.",
    targets: Targets::Kinds(&["cache"]),
    params: &[ParamSpec::required(
        "factor",
        ParamKind::Number { min: 1.0, max: 1000.0 },
        "Entries are this many times as large.",
    )],
    levers: |aim| {
        aim.pull("cache.big_entries", &["factor"]);
    },
    symptoms: &[
        "Memory for entries is at its limit and evictions do not stop.",
        "The hit ratio sinks within the life of an entry, not at one instant.",
    ],
    twin: Some("cache_flush"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("cache", "factor=8", "cache cache.big_entries: factor=8")];
