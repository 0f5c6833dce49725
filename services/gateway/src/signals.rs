//! Signals of the gateway kind, beside those of every server; it has no columns of its own, since
//! three dependencies fill them.

use server::join_signals;
use server::signals::SIGNALS as SHARED;
use telemetry::{ColumnSpec, SignalSpec};

/// Key of the level "share of connections that fail their handshake".
pub(crate) const HANDSHAKE: u16 = server::keys::OWN;
/// Key of the level "share of requests over the rate limit".
pub(crate) const LIMITED: u16 = server::keys::OWN + 1;

pub(crate) const COLUMNS: &[ColumnSpec] = &[];

const OWN: &[SignalSpec] = &[
    SignalSpec {
        name: "connections.handshake.failure.ratio",
        unit: "1",
        doc: "Share of requests whose connection cannot be made.",
        noise: 0.02,
        value: |m| m.levels.get(HANDSHAKE, 0.0),
    },
    SignalSpec {
        name: "requests.limited.ratio",
        unit: "1",
        doc: "Share of requests over the rate limit.",
        noise: 0.02,
        value: |m| m.levels.get(LIMITED, 0.0),
    },
];

const COUNT: usize = OWN.len() + SHARED.len();
static ALL: [SignalSpec; COUNT] = join_signals::<COUNT>(OWN, SHARED);
pub(crate) static SIGNALS: &[SignalSpec] = &ALL;
