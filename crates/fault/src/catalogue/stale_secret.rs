//! `stale_secret`: replicas that still use the secret before the rotation.

use crate::params::GROUP;
use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "stale_secret",
    doc: "Some replicas did not notice a rotation and reject or sign with the old secret. \
          Callers see failures in proportion to these replicas. Reloading the secret there \
          ends it.",
    targets: Targets::Kinds(&["auth"]),
    params: &[GROUP],
    levers: |aim| {
        aim.pull("auth.stale_secret", &["group"]);
    },
    symptoms: &["A steady share of tokens is rejected, by some replicas only."],
    twin: Some("clock_skew"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[
    ("auth", "", "auth auth.stale_secret:"),
    ("auth", "group=stable", "auth auth.stale_secret: group=stable"),
];
