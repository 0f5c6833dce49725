//! Columns and signals of the db kind, beside those of every server.

use server::join_signals;
use server::signals::{SIGNALS as SHARED, own};
use telemetry::{ColumnSpec, Pooling, SignalSpec};

/// Offset of the column "replication lag, seconds".
pub(crate) const LAG: usize = 0;
/// Offset of the column "statements that wait for a lock".
pub(crate) const LOCK_WAITERS: usize = 1;
/// Offset of the column "cores busy".
pub(crate) const CPU: usize = 2;
/// Offset of the column "connections in use".
pub(crate) const BUSY: usize = 3;

/// Key of the level "writes fail for want of space".
pub(crate) const NO_SPACE: u16 = server::keys::OWN;
/// Key of the level "share of reads canceled because the replica is behind".
pub(crate) const STALE: u16 = server::keys::OWN + 1;
/// Key of the level "acknowledged writes that failovers lost".
pub(crate) const WRITES_LOST: u16 = server::keys::OWN + 2;
/// Key of the level "connections of sessions that do nothing".
pub(crate) const IDLE: u16 = server::keys::OWN + 3;

pub(crate) const COLUMNS: &[ColumnSpec] = &[
    ColumnSpec { name: "lag", pooling: Pooling::Last },
    ColumnSpec { name: "lock_waiters", pooling: Pooling::Last },
    ColumnSpec { name: "cpu", pooling: Pooling::Mean },
    ColumnSpec { name: "busy", pooling: Pooling::Last },
];

const OWN: &[SignalSpec] = &[
    SignalSpec {
        name: "connections.idle",
        unit: "{connection}",
        doc: "Connections of sessions that do nothing.",
        noise: 0.0,
        value: |m| m.levels.get(IDLE, 0.0),
    },
    SignalSpec {
        name: "connections.used",
        unit: "{connection}",
        doc: "Connections that work, wait for a lock, or belong to sessions that do nothing.",
        noise: 0.02,
        value: |m| m.row[own(m.setup) + BUSY],
    },
    SignalSpec {
        name: "cpu.cores",
        unit: "{core}",
        doc: "Cores busy.",
        noise: 0.03,
        value: |m| m.row[own(m.setup) + CPU],
    },
    SignalSpec {
        name: "locks.waiting",
        unit: "{statement}",
        doc: "Statements that wait for a lock.",
        noise: 0.0,
        value: |m| m.row[own(m.setup) + LOCK_WAITERS],
    },
    SignalSpec {
        name: "replication.lag.seconds",
        unit: "s",
        doc: "How far the replica is behind.",
        noise: 0.02,
        value: |m| m.row[own(m.setup) + LAG],
    },
    SignalSpec {
        name: "writes.failing",
        unit: "1",
        doc: "1 while writes fail for want of space.",
        noise: 0.0,
        value: |m| m.levels.get(NO_SPACE, 0.0),
    },
    SignalSpec {
        name: "writes.lost",
        unit: "{write}",
        doc: "Acknowledged writes that a failover lost, so far.",
        noise: 0.0,
        value: |m| m.levels.get(WRITES_LOST, 0.0),
    },
];

const COUNT: usize = OWN.len() + SHARED.len();
static ALL: [SignalSpec; COUNT] = join_signals::<COUNT>(OWN, SHARED);
pub(crate) static SIGNALS: &[SignalSpec] = &ALL;
