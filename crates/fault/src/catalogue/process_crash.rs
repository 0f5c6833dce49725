//! `process_crash`: processes of a component that are gone.

use crate::params::GROUP;
use crate::spec::{FaultSpec, SERVERS, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "process_crash",
    doc: "The processes ended and their unit does not start them again. Callers are refused at \
          once. Starting the unit ends it.",
    targets: Targets::Kinds(SERVERS),
    params: &[GROUP],
    levers: |aim| {
        aim.pull_at_hosts("host.process_crash", &[]);
    },
    symptoms: &["No running replicas; the host shows a failed unit."],
    twin: Some("partition"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[
    ("db", "", "node-1 host.process_crash: group=stable instance=db"),
    ("app", "group=canary", "node-2 host.process_crash: group=canary instance=app"),
];
