//! `bad_secret`: a secret that does not load.

use crate::params::GROUP;
use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "bad_secret",
    doc: "A configuration names a secret that is not there: processes end at once and end again \
          at each start. It ends with the configuration before it.",
    targets: Targets::Kinds(&["auth"]),
    params: &[GROUP],
    levers: |aim| {
        aim.pull("auth.bad_secret", &["group"]);
    },
    symptoms: &["Processes exit at their start; logs speak of the signing secret."],
    twin: Some("crash_loop"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("auth", "", "auth auth.bad_secret:")];
