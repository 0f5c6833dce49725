//! Columns and signals of the cache kind, beside those of every server.

use server::join_signals;
pub(crate) use server::signals::own;
use server::signals::{OFFERED, SIGNALS as SHARED};
use telemetry::{ColumnSpec, Pooling, SignalSpec};

/// Offset of the column "share of lookups that miss".
pub(crate) const MISSED: usize = 0;
/// Offset of the column "share of lookups that are fetched from the store".
pub(crate) const FETCHED: usize = 1;
/// Offset of the column "entries".
pub(crate) const ENTRIES: usize = 2;
/// Offset of the column "entries evicted per second".
pub(crate) const EVICTED: usize = 3;

/// Key of the level "bytes of a mean entry".
pub(crate) const ENTRY_BYTES: u16 = server::keys::OWN;
/// Key of the level "bytes of entries that a replica holds at most".
pub(crate) const MAX_MEMORY: u16 = server::keys::OWN + 1;
/// Key of the level "share of the load that the busiest replica takes".
pub(crate) const HOTTEST: u16 = server::keys::OWN + 2;
/// Key of the level "entries that expired together in this second".
pub(crate) const EXPIRED: u16 = server::keys::OWN + 3;

pub(crate) const COLUMNS: &[ColumnSpec] = &[
    ColumnSpec { name: "missed", pooling: Pooling::Last },
    ColumnSpec { name: "fetched", pooling: Pooling::Last },
    ColumnSpec { name: "entries", pooling: Pooling::Last },
    ColumnSpec { name: "evicted", pooling: Pooling::Mean },
];

const MIB: f64 = 1_048_576.0;

const OWN: &[SignalSpec] = &[
    SignalSpec {
        name: "cache.hit.ratio",
        unit: "1",
        doc: "Share of lookups that find their entry.",
        noise: 0.01,
        value: |m| 1.0 - m.row[own(m.setup) + MISSED],
    },
    SignalSpec {
        name: "entries.count",
        unit: "{entry}",
        doc: "Entries held by all replicas.",
        noise: 0.0,
        value: |m| m.row[own(m.setup) + ENTRIES],
    },
    SignalSpec {
        name: "entries.evicted.rate",
        unit: "{entry}/s",
        doc: "Entries that made room for others before they expired.",
        noise: 0.0,
        value: |m| m.row[own(m.setup) + EVICTED],
    },
    SignalSpec {
        name: "entries.expired.together",
        unit: "{entry}",
        doc: "Entries that expired in one and the same instant of this second.",
        noise: 0.0,
        value: |m| m.levels.get(EXPIRED, 0.0),
    },
    SignalSpec {
        name: "entries.memory.mebibytes",
        unit: "MiBy",
        doc: "Memory that the entries take, all replicas together.",
        noise: 0.01,
        value: |m| m.row[own(m.setup) + ENTRIES] * m.levels.get(ENTRY_BYTES, 0.0) / MIB,
    },
    SignalSpec {
        name: "entries.memory.max.mebibytes",
        unit: "MiBy",
        doc: "Memory that entries may take in one replica.",
        noise: 0.0,
        value: |m| m.levels.get(MAX_MEMORY, 0.0) / MIB,
    },
    SignalSpec {
        name: "fetches.rate",
        unit: "{fetch}/s",
        doc: "Fetches from the store for lookups that missed.",
        noise: 0.03,
        value: |m| m.row[OFFERED] * m.row[own(m.setup) + FETCHED],
    },
    SignalSpec {
        name: "replicas.busiest.ratio",
        unit: "1",
        doc: "Share of the load that the busiest replica takes.",
        noise: 0.01,
        value: |m| m.levels.get(HOTTEST, 0.0),
    },
];

const COUNT: usize = OWN.len() + SHARED.len();
static ALL: [SignalSpec; COUNT] = join_signals::<COUNT>(OWN, SHARED);
pub(crate) static SIGNALS: &[SignalSpec] = &ALL;
