//! Columns and signals of the external kind: what its callers can measure, and its quota.

use server::join_signals;
pub(crate) use server::signals::own;
use server::signals::{OFFERED, TRAFFIC};
use telemetry::{ColumnSpec, Moment, Pooling, SignalSpec};

/// Offset of the column "share of calls refused by the quota".
pub(crate) const THROTTLED: usize = 0;

/// Key of the level "calls per second that the quota allows".
pub(crate) const QUOTA: u16 = server::keys::OWN;

pub(crate) const COLUMNS: &[ColumnSpec] =
    &[ColumnSpec { name: "throttled", pooling: Pooling::Mean }];

fn used(m: &Moment<'_>) -> f64 {
    let quota = m.levels.get(QUOTA, 0.0);
    if quota > 0.0 { (m.row[OFFERED] / quota).min(1.0) } else { 1.0 }
}

const OWN: &[SignalSpec] = &[
    SignalSpec {
        name: "quota.limit.rate",
        unit: "{request}/s",
        doc: "Calls per second that the quota allows.",
        noise: 0.0,
        value: |m| m.levels.get(QUOTA, 0.0),
    },
    SignalSpec {
        name: "quota.used.ratio",
        unit: "1",
        doc: "Share of the quota that is asked for.",
        noise: 0.01,
        value: used,
    },
    SignalSpec {
        name: "requests.throttled.ratio",
        unit: "1",
        doc: "Share of calls refused by the quota.",
        noise: 0.02,
        value: |m| m.row[own(m.setup) + THROTTLED],
    },
];

const COUNT: usize = OWN.len() + TRAFFIC.len();
static ALL: [SignalSpec; COUNT] = join_signals::<COUNT>(OWN, TRAFFIC);
pub(crate) static SIGNALS: &[SignalSpec] = &ALL;
