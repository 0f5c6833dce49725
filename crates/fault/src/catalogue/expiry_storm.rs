//! `expiry_storm`: entries that expire at one instant.

use crate::params::RATIO;
use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "expiry_storm",
    doc: "What draws a share of a cache's lookups was written at one instant, with one time to \
          live: it expires together, is fetched together, and expires together again. The store \
          sees a saw-tooth. Jitter spreads it, and single flight blunts it; a shorter life brings \
          more of it.",
    targets: Targets::Kinds(&["cache"]),
    params: &[RATIO],
    levers: |aim| {
        aim.pull("cache.expiry_storm", &["ratio"]);
    },
    symptoms: &[
        "The store's load and the failures come back every time to live, to the second.",
        "Many entries expire in one second, then none.",
    ],
    twin: Some("cpu_hog"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("cache", "ratio=0.8", "cache cache.expiry_storm: ratio=0.8")];
