//! `port_squat`: another process that holds the port of a component.

use crate::spec::{FaultSpec, SERVERS, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "port_squat",
    doc: "A forgotten process listens on the port, so the component cannot bind it and exits. \
          It ends when that process is killed and the unit started.",
    targets: Targets::Kinds(SERVERS),
    params: &[
        ParamSpec::text("command", ParamKind::Text, "", "What `ps` shows; empty: a file server."),
        ParamSpec::optional("pid", ParamKind::Count { min: 4200, max: 999_000 }, "Its process id."),
        ParamSpec::optional("zombie", ParamKind::Flag, "It has an ended child as a decoy."),
    ],
    levers: |aim| {
        aim.pull_at_hosts("host.port_squat", &["command", "pid", "zombie"]);
    },
    symptoms: &["The unit fails with an address in use; the port has another owner."],
    twin: Some("process_crash"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[
    ("db", "", "node-1 host.port_squat: group=stable instance=db"),
    (
        "db",
        "command=old_db pid=6789 zombie=true",
        "node-1 host.port_squat: command=old_db group=stable instance=db pid=6789 zombie=true",
    ),
];
