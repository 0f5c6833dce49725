//! Columns and signals of the app kind, beside those of every server.

use server::join_signals;
use server::signals::{SIGNALS as SHARED, own};
use telemetry::{ColumnSpec, Pooling, SignalSpec};

/// Offset of the column "workers that hang, share of all".
pub(crate) const HUNG: usize = 0;
/// Offset of the column "memory of a replica, MiB".
pub(crate) const MEMORY: usize = 1;

/// Key of the level "writes to the disk fail for want of space".
pub(crate) const NO_SPACE: u16 = server::keys::OWN;

pub(crate) const COLUMNS: &[ColumnSpec] = &[
    ColumnSpec { name: "hung", pooling: Pooling::Last },
    ColumnSpec { name: "memory", pooling: Pooling::Last },
];

const OWN: &[SignalSpec] = &[
    SignalSpec {
        name: "memory.usage.mebibytes",
        unit: "MiBy",
        doc: "Memory of one replica.",
        noise: 0.01,
        value: |m| m.row[own(m.setup) + MEMORY],
    },
    SignalSpec {
        name: "workers.hung.ratio",
        unit: "1",
        doc: "Share of the workers that have not answered for minutes.",
        noise: 0.0,
        value: |m| m.row[own(m.setup) + HUNG],
    },
];

const COUNT: usize = OWN.len() + SHARED.len();
static ALL: [SignalSpec; COUNT] = join_signals::<COUNT>(OWN, SHARED);
pub(crate) static SIGNALS: &[SignalSpec] = &ALL;
