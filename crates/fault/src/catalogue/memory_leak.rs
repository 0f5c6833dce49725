//! `memory_leak`: memory that grows until the host kills the process.

use crate::spec::{FaultSpec, SERVERS, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "memory_leak",
    doc: "Every replica grows steadily. Latency rises first, then the host kills the process, \
          and it begins anew: a saw-tooth. A restart buys time, a rollback ends it.",
    targets: Targets::Kinds(SERVERS),
    params: &[ParamSpec::required(
        "rate",
        ParamKind::Number { min: 0.01, max: 100_000.0 },
        "MiB per minute and replica.",
    )],
    levers: |aim| {
        aim.pull("server.memory_leak", &["rate"]);
    },
    symptoms: &[
        "Memory is a saw-tooth and the count of starts grows.",
        "Latency rises before each kill.",
    ],
    twin: Some("memory_pressure"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("auth", "rate=60", "auth server.memory_leak: rate=60")];
