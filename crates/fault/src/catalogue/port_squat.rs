//! `port_squat`: another process that holds the port of a component.

use crate::spec::{FaultSpec, SERVERS, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "port_squat",
    doc: "A forgotten process listens on the port, so the component cannot bind it and exits. \
          It ends when that process is killed and the unit started.",
    targets: Targets::Kinds(SERVERS),
    params: &[],
    levers: |aim| {
        aim.pull_at_hosts("host.port_squat", &[]);
    },
    symptoms: &["The unit fails with an address in use; the port has another owner."],
    twin: Some("process_crash"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("db", "", "node-1 host.port_squat: group=stable instance=db")];
