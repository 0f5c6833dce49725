//! `cache_flush`: a cache that is empty at once.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "cache_flush",
    doc: "A cache loses its entries at one instant, and all lookups go on to the store behind it. \
          A store that cannot bear them fails them, and a fetch that fails warms nothing: it can \
          stay that way for good. Fewer lookups end it, or a load ahead of them; another flush \
          begins it anew.",
    targets: Targets::Kinds(&["cache"]),
    params: &[ParamSpec::number(
        "ratio",
        ParamKind::Ratio,
        1.0,
        "The share of the content that is gone.",
    )],
    levers: |aim| {
        aim.pull("cache.cold", &["ratio"]);
    },
    symptoms: &[
        "The hit ratio drops at one instant; the store's load is a multiple of what it was.",
        "The store is busy and queues, while the cache has little to do.",
    ],
    twin: Some("missing_index"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("cache", "ratio=0.9", "cache cache.cold: ratio=0.9")];
