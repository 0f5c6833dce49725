//! `session_loss`: sessions that are gone at once.

use crate::params::RATIO;
use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "session_loss",
    doc: "A share of the sessions is lost and all these users log in again. The load of logins \
          is a step that decays. It ends when they are in; a restart loses the rest.",
    targets: Targets::Kinds(&["auth"]),
    params: &[RATIO],
    levers: |aim| {
        aim.pull("auth.session_loss", &["ratio"]);
    },
    symptoms: &["Logins step up at one instant, then decay."],
    twin: Some("capacity_dip"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("auth", "ratio=0.8", "auth auth.session_loss: ratio=0.8")];
