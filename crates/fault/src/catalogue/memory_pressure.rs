//! `memory_pressure`: a process that takes the memory of its neighbors.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "memory_pressure",
    doc: "A job on the host takes memory until the host kills others to live. The killed have \
          no leak of their own. It ends when the job is killed.",
    targets: Targets::Kinds(&["host"]),
    params: &[ParamSpec::required(
        "size",
        ParamKind::Bytes { min: 1_048_576.0, max: 1e15 },
        "Bytes it takes.",
    )],
    levers: |aim| {
        aim.pull("host.memory_pressure", &["size"]);
    },
    symptoms: &["Processes are killed for memory although their own use is flat."],
    twin: Some("memory_leak"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("node-1", "size=4GiB", "node-1 host.memory_pressure: size=4294967296")];
