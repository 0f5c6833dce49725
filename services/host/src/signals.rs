//! Columns and signals of the host kind.

use telemetry::{ColumnSpec, Pooling, SignalSpec};

pub(crate) const CPU: usize = 0;
pub(crate) const MEMORY: usize = 1;
pub(crate) const DISK: usize = 2;
pub(crate) const INODES: usize = 3;

/// Key of the level "seconds of clock error".
pub(crate) const SKEW: u16 = 1;
/// Key of the level "process exits so far".
pub(crate) const EXITS: u16 = 2;
/// Key of notes that carry no level.
pub(crate) const EVENT: u16 = 3;

pub(crate) const COLUMNS: &[ColumnSpec] = &[
    ColumnSpec { name: "cpu", pooling: Pooling::Mean },
    ColumnSpec { name: "memory", pooling: Pooling::Last },
    ColumnSpec { name: "disk", pooling: Pooling::Last },
    ColumnSpec { name: "inodes", pooling: Pooling::Last },
];

pub(crate) const SIGNALS: &[SignalSpec] = &[
    SignalSpec {
        name: "clock.offset.seconds",
        unit: "s",
        doc: "Offset of the clock against the time servers.",
        noise: 0.01,
        value: |m| m.levels.get(SKEW, 0.0),
    },
    SignalSpec {
        name: "cpu.utilization",
        unit: "1",
        doc: "Share of the cores in use.",
        noise: 0.03,
        value: |m| m.row[CPU],
    },
    SignalSpec {
        name: "disk.utilization",
        unit: "1",
        doc: "Share of the file system in use.",
        noise: 0.0,
        value: |m| m.row[DISK],
    },
    SignalSpec {
        name: "inodes.utilization",
        unit: "1",
        doc: "Share of the inodes in use.",
        noise: 0.0,
        value: |m| m.row[INODES],
    },
    SignalSpec {
        name: "memory.utilization",
        unit: "1",
        doc: "Share of the memory in use.",
        noise: 0.01,
        value: |m| m.row[MEMORY],
    },
    SignalSpec {
        name: "process.exits",
        unit: "{exit}",
        doc: "Processes that ended without an order, so far.",
        noise: 0.0,
        value: |m| m.levels.get(EXITS, 0.0),
    },
];
