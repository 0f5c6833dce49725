//! Columns and signals of the auth kind, beside those of every server.

use server::join_signals;
use server::signals::{SIGNALS as SHARED, own};
use telemetry::{ColumnSpec, Pooling, SignalSpec};

/// Offset of the column "share of requests without a session".
pub(crate) const LOGINS: usize = 0;
/// Offset of the column "memory of a replica, MiB".
pub(crate) const MEMORY: usize = 1;

/// Key of the level "share of requests whose token is rejected".
pub(crate) const REJECTED: u16 = server::keys::OWN;

pub(crate) const COLUMNS: &[ColumnSpec] = &[
    ColumnSpec { name: "logins", pooling: Pooling::Last },
    ColumnSpec { name: "memory", pooling: Pooling::Last },
];

const OWN: &[SignalSpec] = &[
    SignalSpec {
        name: "logins.ratio",
        unit: "1",
        doc: "Share of requests that need a new session.",
        noise: 0.02,
        value: |m| m.row[own(m.setup) + LOGINS],
    },
    SignalSpec {
        name: "memory.usage.mebibytes",
        unit: "MiBy",
        doc: "Memory of one replica.",
        noise: 0.01,
        value: |m| m.row[own(m.setup) + MEMORY],
    },
    SignalSpec {
        name: "tokens.rejected.ratio",
        unit: "1",
        doc: "Share of tokens rejected.",
        noise: 0.02,
        value: |m| m.levels.get(REJECTED, 0.0),
    },
];

const COUNT: usize = OWN.len() + SHARED.len();
static ALL: [SignalSpec; COUNT] = join_signals::<COUNT>(OWN, SHARED);
pub(crate) static SIGNALS: &[SignalSpec] = &ALL;
