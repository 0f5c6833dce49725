//! `memory_pressure`: a process that takes the memory of its neighbors.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "memory_pressure",
    doc: "A job on the host takes memory until the host kills others to live. The killed have \
          no leak of their own. It ends when the job is killed.",
    targets: Targets::Kinds(&["host"]),
    params: &[ParamSpec::required(
        "mib",
        ParamKind::Number { min: 1.0, max: 1e7 },
        "MiB it takes.",
    )],
    levers: |aim| {
        aim.pull("host.memory_pressure", &["mib"]);
    },
    symptoms: &["Processes are killed for memory although their own use is flat."],
    twin: Some("memory_leak"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("node-1", "mib=4096", "node-1 host.memory_pressure: mib=4096")];
