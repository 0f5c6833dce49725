//! Columns and signals that every server has. The first columns are the station's, then two per
//! outgoing edge, then the kind's own.

use crate::join::join_signals;
use crate::keys;
use flow::latency::quantile;
use flow::tier::Round;
use model::{COLUMNS_MAX, Setup};
use telemetry::{ColumnSpec, Moment, Pooling, SignalSpec};

/// Attempts offered per second, those turned away included.
pub const OFFERED: usize = 0;
/// Share of them refused by a full queue.
pub const REFUSED: usize = 1;
/// Requests that wait.
pub const QUEUE: usize = 2;
/// Mean wait of accepted attempts, seconds.
pub const WAIT: usize = 3;
/// Standard deviation of the wait, seconds.
pub const WAIT_SD: usize = 4;
/// Mean time of successes, seconds.
pub const OK: usize = 5;
/// Standard deviation of it, seconds.
pub const OK_SD: usize = 6;
/// Share of offered attempts that do not end well: turned away, refused or failed.
pub const FAILED: usize = 7;
/// First column of the edges.
pub const EDGES: usize = 8;

/// Failure of first attempts over outgoing edge number `edge`.
pub const fn first(edge: usize) -> usize {
    EDGES + 2 * edge
}

/// Failure of later attempts over outgoing edge number `edge`.
pub const fn later(edge: usize) -> usize {
    EDGES + 2 * edge + 1
}

/// First of the kind's own columns.
pub fn own(setup: &Setup) -> usize {
    EDGES + 2 * setup.outgoing.len()
}

const STATION: &[ColumnSpec] = &[
    ColumnSpec { name: "offered", pooling: Pooling::Mean },
    ColumnSpec { name: "refused", pooling: Pooling::Last },
    ColumnSpec { name: "queue", pooling: Pooling::Last },
    ColumnSpec { name: "wait", pooling: Pooling::Last },
    ColumnSpec { name: "wait_sd", pooling: Pooling::Last },
    ColumnSpec { name: "ok", pooling: Pooling::Last },
    ColumnSpec { name: "ok_sd", pooling: Pooling::Last },
    ColumnSpec { name: "failed", pooling: Pooling::Last },
];

/// All columns of an instance, `extra` at the end.
pub fn columns(setup: &Setup, extra: &[ColumnSpec]) -> Vec<ColumnSpec> {
    let mut all = STATION.to_vec();
    for _ in &setup.outgoing {
        all.push(ColumnSpec { name: "edge_first_failure", pooling: Pooling::Last });
        all.push(ColumnSpec { name: "edge_later_failure", pooling: Pooling::Last });
    }
    all.extend_from_slice(extra);
    all
}

/// The station's and the edges' columns of a round.
pub(crate) fn fill(round: &Round, row: &mut [f64; COLUMNS_MAX]) {
    let report = &round.report;
    row[OFFERED] = round.offered + round.turned_away;
    row[REFUSED] = report.refused;
    row[QUEUE] = round.queue;
    row[WAIT] = round.wait_s;
    row[WAIT_SD] = round.wait_var_s2.max(0.0).sqrt();
    row[OK] = report.ok_mean_s;
    row[OK_SD] = report.ok_var_s2.max(0.0).sqrt();
    let wanted = round.offered + round.turned_away;
    let accepted = round.offered * (1.0 - report.refused);
    let good = accepted * (1.0 - round.failed);
    row[FAILED] = if wanted > 1e-9 { (1.0 - good / wanted).clamp(0.0, 1.0) } else { 0.0 };
    for (k, edge) in round.edges.iter().enumerate() {
        if later(k) < COLUMNS_MAX {
            row[first(k)] = edge.first_failure;
            row[later(k)] = edge.later_failure;
        }
    }
}

/// Share of offered attempts that do not end well.
pub fn error_ratio(m: &Moment<'_>) -> f64 {
    m.row[FAILED]
}

fn latency(m: &Moment<'_>, z: f64) -> f64 {
    quantile(m.row[OK], m.row[OK_SD] * m.row[OK_SD], z)
}

/// Failure of first attempts over outgoing edge number `edge`; 0 where there is none.
pub fn edge_failure(m: &Moment<'_>, edge: usize) -> f64 {
    if edge < m.setup.outgoing.len() { m.row[first(edge)] } else { 0.0 }
}

/// Replicas that take requests, in all groups.
pub fn running(m: &Moment<'_>) -> f64 {
    let groups = m.setup.spec.groups.len() as u16;
    (0..groups).map(|g| m.levels.get(keys::RUNNING + g, 0.0)).sum()
}

fn unhealthy(m: &Moment<'_>) -> f64 {
    let groups = m.setup.spec.groups.len() as u16;
    (0..groups).map(|g| m.levels.get(keys::UNHEALTHY + g, 0.0)).sum()
}

/// A signal.
pub const fn signal(
    name: &'static str,
    unit: &'static str,
    doc: &'static str,
    noise: f64,
    value: fn(&Moment<'_>) -> f64,
) -> SignalSpec {
    SignalSpec { name, unit, doc, noise, value }
}

/// A place holder for joined lists.
pub(crate) const NO_SIGNAL: SignalSpec = signal("", "", "", 0.0, |_| 0.0);

/// What callers of a component can measure by themselves.
pub const TRAFFIC: &[SignalSpec] = &[
    signal("latency.p50.seconds", "s", "Median time of successes.", 0.03, |m| latency(m, 0.0)),
    signal("latency.p95.seconds", "s", "95th percentile of it.", 0.04, |m| latency(m, 1.645)),
    signal("latency.p99.seconds", "s", "99th percentile of it.", 0.05, |m| latency(m, 2.326)),
    signal(
        "requests.error.ratio",
        "1",
        "Share of requests that do not end well.",
        0.02,
        error_ratio,
    ),
    signal("requests.rate", "{request}/s", "Requests offered.", 0.03, |m| m.row[OFFERED]),
    signal("requests.refused.ratio", "1", "Share refused by a full queue.", 0.02, |m| {
        m.row[REFUSED]
    }),
];

/// What only those see who run it.
const INSIDE: &[SignalSpec] = &[
    signal(
        "dependency.1.failure.ratio",
        "1",
        "Failed first attempts to the first dependency.",
        0.02,
        |m| edge_failure(m, 0),
    ),
    signal(
        "dependency.2.failure.ratio",
        "1",
        "Failed first attempts to the second one.",
        0.02,
        |m| edge_failure(m, 1),
    ),
    signal(
        "dependency.3.failure.ratio",
        "1",
        "Failed first attempts to the third one.",
        0.02,
        |m| edge_failure(m, 2),
    ),
    signal("queue.depth", "{request}", "Requests that wait.", 0.03, |m| m.row[QUEUE]),
    signal("queue.wait.seconds", "s", "Mean wait of accepted requests.", 0.03, |m| m.row[WAIT]),
    signal("replicas.running", "{replica}", "Replicas that take requests.", 0.0, running),
    signal(
        "replicas.unhealthy",
        "{replica}",
        "Replicas that run and fail their health checks.",
        0.0,
        unhealthy,
    ),
    signal("replicas.wanted", "{replica}", "Replicas that should run.", 0.0, |m| {
        m.levels.get(keys::WANTED, 0.0)
    }),
];

const COUNT: usize = INSIDE.len() + TRAFFIC.len();
const ALL: [SignalSpec; COUNT] = join_signals::<COUNT>(INSIDE, TRAFFIC);

/// Signals of any server.
pub const SIGNALS: &[SignalSpec] = &ALL;
