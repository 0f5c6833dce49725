//! `disk_full`: a file that grows until the disk is full.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "disk_full",
    doc: "Something on the host writes until no byte is left. Then writes fail while reads \
          still work. Removing the file ends it, if its writer has stopped; a restart of the \
          database fails while the disk is full. With a rate of 0 the file lies there already and \
          nobody has it open.",
    targets: Targets::Kinds(&["host"]),
    params: &[
        ParamSpec::text("path", ParamKind::Text, "/var/log/app.log", "The file that grows."),
        ParamSpec::required("rate", ParamKind::Bytes { min: 0.0, max: 1e12 }, "Bytes per second."),
        ParamSpec::optional(
            "size",
            ParamKind::Bytes { min: 0.0, max: 1e15 },
            "Bytes in it at once, as far as they fit.",
        ),
        ParamSpec::text("instance", ParamKind::Text, "", "Whose log it is; empty: nobody's."),
    ],
    levers: |aim| {
        aim.pull("host.disk_fill", &["path", "rate", "size", "instance"]);
    },
    symptoms: &["Used bytes climb in a line; then writes fail with no space left."],
    twin: Some("inode_exhaustion"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[
    ("node-1", "rate=50MiB", "node-1 host.disk_fill: path=/var/log/app.log rate=52428800"),
    (
        "node-1",
        "rate=0 size=1MiB instance=app",
        "node-1 host.disk_fill: instance=app path=/var/log/app.log rate=0 size=1048576",
    ),
];
