//! Columns and signals of the payment kind, beside those of every server.

use server::join_signals;
use server::signals::{SIGNALS as SHARED, own};
use telemetry::{ColumnSpec, Pooling, SignalSpec};

/// Offset of the column "memory of a replica, MiB".
pub(crate) const MEMORY: usize = 0;

/// Key of the level "mean time of the provider, seconds".
pub(crate) const PROVIDER: u16 = server::keys::OWN;
/// Key of the level "share of charges that the provider fails".
pub(crate) const PROVIDER_ERRORS: u16 = server::keys::OWN + 1;

pub(crate) const COLUMNS: &[ColumnSpec] = &[ColumnSpec { name: "memory", pooling: Pooling::Last }];

const OWN: &[SignalSpec] = &[
    SignalSpec {
        name: "memory.usage.mebibytes",
        unit: "MiBy",
        doc: "Memory of one replica.",
        noise: 0.01,
        value: |m| m.row[own(m.setup) + MEMORY],
    },
    SignalSpec {
        name: "provider.error.ratio",
        unit: "1",
        doc: "Share of charges that the provider fails or answers too late.",
        noise: 0.02,
        value: |m| m.levels.get(PROVIDER_ERRORS, 0.0),
    },
    SignalSpec {
        name: "provider.latency.seconds",
        unit: "s",
        doc: "Mean time of the provider's answer.",
        noise: 0.03,
        value: |m| m.levels.get(PROVIDER, m.setup.spec.params.number("provider_time")),
    },
];

const COUNT: usize = OWN.len() + SHARED.len();
static ALL: [SignalSpec; COUNT] = join_signals::<COUNT>(OWN, SHARED);
pub(crate) static SIGNALS: &[SignalSpec] = &ALL;
