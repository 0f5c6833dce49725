//! Columns and signals of the queue kind. A request of a queue is a publish; the station that the
//! shared columns describe elsewhere is the consumers' handler here, and most of it is their own
//! affair.

use model::Setup;
use server::keys;
use server::signals::{FAILED, OFFERED, QUEUE, REFUSED, edge_failure, own, running, signal};
use telemetry::{ColumnSpec, Pooling, SignalSpec};

/// Column "share of the messages published now that are handled too late", where other kinds have
/// their mean wait.
pub(crate) const LATE: usize = server::signals::WAIT;
/// Column "messages in the fullest partition".
pub(crate) const PARTITION: usize = server::signals::WAIT_SD;
/// Column "messages done with per second".
pub(crate) const CONSUMED: usize = server::signals::OK;
/// Column "age of the oldest message, seconds".
pub(crate) const OLDEST: usize = server::signals::OK_SD;

/// Offset of the column "share of the deliveries that fail".
pub(crate) const HANDLER_FAILED: usize = 0;
/// Offset of the column "time of a delivery, seconds".
pub(crate) const HANDLER: usize = 1;
/// How many columns stand behind those of the edges.
pub(crate) const MORE: usize = 2;

/// Key of the level "dead letters so far".
pub(crate) const DEAD: u16 = keys::OWN;
/// Key of the level "acknowledged messages that were skipped or purged, so far".
pub(crate) const LOST: u16 = keys::OWN + 1;
/// Key of the level "number of the partition that stands still, from 1; 0: none".
pub(crate) const STILL: u16 = keys::OWN + 2;
/// Key of the level "offset at which it does".
pub(crate) const OFFSET: u16 = keys::OWN + 3;
/// Key of the level "consumers wait for their partitions".
pub(crate) const REBALANCING: u16 = keys::OWN + 4;
/// First key of the levels "share of the publishes turned away", by class.
pub(crate) const REFUSE: u16 = keys::OWN + 8;

const fn column(name: &'static str, pooling: Pooling) -> ColumnSpec {
    ColumnSpec { name, pooling }
}

/// All columns of an instance.
pub(crate) fn columns(setup: &Setup) -> Vec<ColumnSpec> {
    let mut all = vec![
        column("offered", Pooling::Mean),
        column("refused", Pooling::Last),
        column("queue", Pooling::Last),
        column("late", Pooling::Last),
        column("partition_lag", Pooling::Last),
        column("consumed", Pooling::Mean),
        column("oldest", Pooling::Last),
        column("failed", Pooling::Last),
    ];
    for _ in &setup.outgoing {
        all.push(column("edge_first_failure", Pooling::Last));
        all.push(column("edge_later_failure", Pooling::Last));
    }
    all.push(column("handler_failed", Pooling::Last));
    all.push(column("handler_time", Pooling::Last));
    all
}

/// All signals of the kind.
pub(crate) static SIGNALS: &[SignalSpec] = &[
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
    signal("handler.error.ratio", "1", "Share of the deliveries that fail.", 0.02, |m| {
        m.row[own(m.setup) + HANDLER_FAILED]
    }),
    signal("handler.time.seconds", "s", "Mean time of handling a message.", 0.03, |m| {
        m.row[own(m.setup) + HANDLER]
    }),
    signal("messages.age.seconds", "s", "Age of the oldest message that waits.", 0.01, |m| {
        m.row[OLDEST]
    }),
    signal("messages.consumed.rate", "{message}/s", "Messages done with.", 0.03, |m| {
        m.row[CONSUMED]
    }),
    signal("messages.dead", "{message}", "Dead letters so far.", 0.0, |m| m.levels.get(DEAD, 0.0)),
    signal("messages.late.ratio", "1", "Share of new messages handled too late.", 0.01, |m| {
        m.row[LATE]
    }),
    signal(
        "partition.lag.messages",
        "{message}",
        "Messages in the fullest partition.",
        0.01,
        |m| m.row[PARTITION],
    ),
    signal("queue.depth", "{message}", "Messages that wait.", 0.01, |m| m.row[QUEUE]),
    signal("replicas.running", "{replica}", "Consumers that run.", 0.0, running),
    signal("replicas.wanted", "{replica}", "Consumers that should run.", 0.0, |m| {
        m.levels.get(keys::WANTED, 0.0)
    }),
    signal("requests.error.ratio", "1", "Share of publishes not acknowledged.", 0.02, |m| {
        m.row[FAILED]
    }),
    signal("requests.rate", "{request}/s", "Messages that producers publish.", 0.03, |m| {
        m.row[OFFERED]
    }),
    signal("requests.refused.ratio", "1", "Share refused by a full broker.", 0.02, |m| {
        m.row[REFUSED]
    }),
    signal(
        "writes.lost",
        "{write}",
        "Acknowledged messages that were skipped or purged, so far.",
        0.0,
        |m| m.levels.get(LOST, 0.0),
    ),
];
