//! Columns and signals of the frontend kind, beside those of every server.

use server::join_signals;
use server::signals::{SIGNALS as SHARED, own};
use telemetry::{ColumnSpec, Pooling, SignalSpec};

/// Offset of the column "share of pages whose session is in the cache".
pub(crate) const HITS: usize = 0;
/// Offset of the column "calls per second that clients make in vain".
pub(crate) const VAIN: usize = 1;

/// Key of the level "share of the clients with stale entries".
pub(crate) const STALE: u16 = server::keys::OWN;

pub(crate) const COLUMNS: &[ColumnSpec] = &[
    ColumnSpec { name: "hits", pooling: Pooling::Last },
    ColumnSpec { name: "vain", pooling: Pooling::Mean },
];

const OWN: &[SignalSpec] = &[
    SignalSpec {
        name: "cache.hit.ratio",
        unit: "1",
        doc: "Share of pages whose session is in the cache.",
        noise: 0.01,
        value: |m| m.row[own(m.setup) + HITS],
    },
    SignalSpec {
        name: "cache.stale.ratio",
        unit: "1",
        doc: "Share of the clients that hold entries of an older page.",
        noise: 0.02,
        value: |m| m.levels.get(STALE, 0.0),
    },
    SignalSpec {
        name: "calls.repeated.rate",
        unit: "{request}/s",
        doc: "Calls that clients repeat with entries that are not valid any more.",
        noise: 0.03,
        value: |m| m.row[own(m.setup) + VAIN],
    },
];

const COUNT: usize = OWN.len() + SHARED.len();
static ALL: [SignalSpec; COUNT] = join_signals::<COUNT>(OWN, SHARED);
pub(crate) static SIGNALS: &[SignalSpec] = &ALL;
