//! `inode_exhaustion`: files so many that none can be created.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "inode_exhaustion",
    doc: "Something on the host creates small files without end. Bytes are free, inodes are \
          not, and the text of the error is the same as for a full disk. Removing the small \
          files ends it.",
    targets: Targets::Kinds(&["host"]),
    params: &[
        ParamSpec::text("path", ParamKind::Text, "/var/tmp/sessions", "The folder that fills up."),
        ParamSpec::required("rate", ParamKind::Number { min: 0.01, max: 1e6 }, "Files per second."),
    ],
    levers: |aim| {
        aim.pull("host.inode_leak", &["path", "rate"]);
    },
    symptoms: &["No space left although half of the bytes are free."],
    twin: Some("disk_full"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("node-1", "rate=500", "node-1 host.inode_leak: path=/var/tmp/sessions rate=500")];
