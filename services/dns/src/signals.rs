//! Columns and signals of the dns kind, beside those of every server.

use model::NAMES_MAX;
use server::join_signals;
use server::signals::{SIGNALS as SHARED, own};
use telemetry::{ColumnSpec, Pooling, SignalSpec};

/// Offset of the column "share of lookups whose name does not exist".
pub(crate) const NXDOMAIN: usize = 0;
/// Offset of the column "largest share of the callers of a name that get no address".
pub(crate) const UNRESOLVED: usize = 1;
/// Offset of the column "lookups of caches per second".
pub(crate) const REFRESHES: usize = 2;
/// Offset of the column "seconds since the zone changed".
pub(crate) const AGE: usize = 3;

/// Key of the level "share of the names that exist".
pub(crate) const PRESENT: u16 = server::keys::OWN;
/// Keys of the levels "what the zone says of a name", one per name: 0 an address, 1 nothing.
pub(crate) const ENTRIES: u16 = server::keys::OWN + 1;

const _: () = assert!(ENTRIES as usize + NAMES_MAX <= 100, "the edges' keys begin there");

pub(crate) const COLUMNS: &[ColumnSpec] = &[
    ColumnSpec { name: "nxdomain", pooling: Pooling::Last },
    ColumnSpec { name: "unresolved", pooling: Pooling::Last },
    ColumnSpec { name: "refreshes", pooling: Pooling::Mean },
    ColumnSpec { name: "age", pooling: Pooling::Last },
];

const OWN: &[SignalSpec] = &[
    SignalSpec {
        name: "caches.unresolved.ratio",
        unit: "1",
        doc: "Share of the callers' caches that have no address, for the name that fares worst.",
        noise: 0.02,
        value: |m| m.row[own(m.setup) + UNRESOLVED],
    },
    SignalSpec {
        name: "lookups.nxdomain.ratio",
        unit: "1",
        doc: "Share of lookups whose name does not exist.",
        noise: 0.02,
        value: |m| m.row[own(m.setup) + NXDOMAIN],
    },
    SignalSpec {
        name: "lookups.refresh.rate",
        unit: "{request}/s",
        doc: "Lookups of caches whose answer ran out; the others come with requests.",
        noise: 0.03,
        value: |m| m.row[own(m.setup) + REFRESHES],
    },
    SignalSpec {
        name: "zone.age.seconds",
        unit: "s",
        doc: "Time since an entry of the zone changed, a week at most.",
        noise: 0.0,
        value: |m| m.row[own(m.setup) + AGE],
    },
    SignalSpec {
        name: "zone.present.ratio",
        unit: "1",
        doc: "Share of the names that have an entry in the zone.",
        noise: 0.0,
        value: |m| m.levels.get(PRESENT, 1.0),
    },
];

const COUNT: usize = OWN.len() + SHARED.len();
static ALL: [SignalSpec; COUNT] = join_signals::<COUNT>(OWN, SHARED);
pub(crate) static SIGNALS: &[SignalSpec] = &ALL;
