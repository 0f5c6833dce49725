//! `cpu_hog`: a process that takes the CPU of its neighbors.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "cpu_hog",
    doc: "A job on the host takes cores, and everything on it gets less. Components on other \
          hosts are well. It ends when the job is killed.",
    targets: Targets::Kinds(&["host"]),
    params: &[ParamSpec::required(
        "cores",
        ParamKind::Number { min: 0.1, max: 1024.0 },
        "Cores it takes.",
    )],
    levers: |aim| {
        aim.pull("host.cpu_hog", &["cores"]);
    },
    symptoms: &["All components of one host are slow at the same time."],
    twin: Some("capacity_dip"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("node-1", "cores=8", "node-1 host.cpu_hog: cores=8")];
