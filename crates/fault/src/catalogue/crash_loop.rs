//! `crash_loop`: processes that exit right after their start.

use crate::params::GROUP;
use crate::spec::{FaultSpec, SERVERS, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "crash_loop",
    doc: "A setting or a rule makes every process exit soon after its start. The host starts \
          it again and again. It ends with the setting; more restarts change nothing.",
    targets: Targets::Kinds(SERVERS),
    params: &[GROUP],
    levers: |aim| {
        aim.pull("server.crash_loop", &["group"]);
    },
    symptoms: &["Starts are counted up, exit codes are not zero, callers are refused."],
    twin: Some("bad_secret"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("app", "", "app server.crash_loop:")];
