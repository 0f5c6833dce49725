//! `connection_leak`: connections that are taken and never given back.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "connection_leak",
    doc: "The caller leaks connections of its pool until nothing is left to call with. The \
          callee is idle. A restart of the caller gives the pool back for a while; a rollback \
          ends the leak.",
    targets: Targets::Edges,
    params: &[ParamSpec::required(
        "rate",
        ParamKind::Number { min: 0.01, max: 10000.0 },
        "Connections leaked per minute.",
    )],
    levers: |aim| {
        aim.pull("edge.pool_leak", &["rate"]);
    },
    symptoms: &[
        "The pool fills up steadily and stays full.",
        "The callee is idle while callers wait for connections.",
    ],
    twin: Some("slow_dependency"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("app -> db", "rate=12", "app edge.pool_leak over 2: rate=12")];
