//! `idle_sessions`: sessions that hold connections of a database and do nothing.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "idle_sessions",
    doc: "A client left sessions open that hold connections of the database and do nothing. What \
          is left is too little for everybody else, who wait or are turned away. It ends with \
          those sessions: when they are killed, or when the database is started anew.",
    targets: Targets::Kinds(&["db"]),
    params: &[ParamSpec::required(
        "connections",
        ParamKind::Number { min: 0.01, max: 10_000.0 },
        "Connections they hold.",
    )],
    levers: |aim| {
        aim.pull("db.idle_sessions", &["connections"]);
    },
    symptoms: &[
        "Most connections are in use, many of them by sessions that do nothing.",
        "Statements wait or are turned away while the database has cores to spare.",
    ],
    twin: Some("connection_leak"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("db", "connections=13", "db db.idle_sessions: connections=13")];
