//! `key_skew`: one key that draws much of the load.

use crate::params::RATIO;
use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "key_skew",
    doc: "One key of a cache draws a share of all lookups. The replica that holds it is full while \
          the others idle, and nothing passes faster than that one serves. It ends with the \
          interest in the key, or with copies of it in every replica; more replicas hold other \
          keys.",
    targets: Targets::Kinds(&["cache"]),
    params: &[RATIO],
    levers: |aim| {
        aim.pull("cache.hot_key", &["ratio"]);
    },
    symptoms: &["Lookups queue and are refused although most of the cache's slots are free."],
    twin: Some("slot_leak"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("cache", "ratio=0.6", "cache cache.hot_key: ratio=0.6")];
