//! `bad_canary`: a bad version in one replica group.

use crate::params::{VERSION, VERSION_ERRORS, VERSION_SLOW};
use crate::spec::{FaultSpec, SERVERS, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "bad_canary",
    doc: "One small group runs a new version that fails or is slow. The sum over all groups \
          hardly moves. Draining or rolling back the group ends it; rolling back the others \
          only costs capacity.",
    targets: Targets::Kinds(SERVERS),
    params: &[
        ParamSpec::required("group", ParamKind::Text, "The replica group."),
        VERSION,
        VERSION_ERRORS,
        VERSION_SLOW,
    ],
    levers: |aim| {
        aim.pull("server.version", &["group", "version", "errors", "slow"]);
    },
    symptoms: &["A share of errors as large as the group, all with one version label."],
    twin: Some("clock_skew"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[(
    "app",
    "group=canary version=v13 errors=0.9",
    "app server.version: errors=0.9 group=canary slow=1 version=v13",
)];
