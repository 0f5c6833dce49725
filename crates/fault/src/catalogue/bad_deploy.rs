//! `bad_deploy`: a new version that fails or is slow.

use crate::params::{CLASS, VERSION, VERSION_ERRORS, VERSION_SLOW};
use crate::spec::{FaultSpec, SERVERS, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "bad_deploy",
    doc: "All replicas run a new version whose requests fail or take longer. Errors begin with \
          the rollout and carry its version label. A rollback ends it; a restart starts the \
          same version again.",
    targets: Targets::Kinds(SERVERS),
    params: &[VERSION, VERSION_ERRORS, VERSION_SLOW, CLASS],
    levers: |aim| {
        aim.pull("server.version", &["version", "errors", "slow", "class"]);
    },
    symptoms: &["Errors or latency step up with the rollout, on the new version only."],
    twin: Some("cohort_bug"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("app", "version=v13 errors=0.4", "app server.version: errors=0.4 slow=1 version=v13")];
