//! What will happen when: a binary heap of events in the order of time, then of entry. It does not
//! take events out again: one whose stamp is no longer its subject's is stale and means nothing.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Nanoseconds since the start of the run.
pub(crate) type Instant = u64;

/// An instant that never comes.
pub(crate) const NEVER: Instant = u64::MAX;

/// Seconds as an instant; infinity is `NEVER`.
pub(crate) fn instant(seconds: f64) -> Instant {
    if seconds.is_finite() { (seconds * 1e9).round() as u64 } else { NEVER }
}

/// An instant or a span as seconds.
pub(crate) fn seconds(instant: Instant) -> f64 {
    instant as f64 * 1e-9
}

/// What happens; `subject` of the event says to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A user of an open class arrives (subject: class).
    UserArrives,
    /// A user of a closed class has thought (subject: class).
    UserThought,
    /// A delayed request reaches its tier (subject: the request).
    Inbound,
    /// Own work is done (subject: the request).
    WorkDone,
    /// The attempt of a call has taken too long (subject: the caller).
    TimedOut,
    /// The back-off is over (subject: the caller).
    BackedOff,
    /// A connection was handed to a waiting caller (subject: the caller).
    Connected,
    /// No connection came in time (subject: the caller).
    NoConnection,
    /// Something scheduled changes (subject: index in the list of changes).
    Change,
    /// An interval of the statistics ends.
    Tick,
}

/// One entry of the agenda.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) time: Instant,
    sequence: u64,
    pub(crate) subject: u32,
    pub(crate) stamp: u32,
    pub(crate) kind: Kind,
}

impl Ord for Event {
    /// The greatest is the next one.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |e: &Self| (u128::from(e.time) << 64) | u128::from(e.sequence);
        key(other).cmp(&key(self))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The events to come.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: BinaryHeap<Event>,
    sequence: u64,
}

impl Agenda {
    pub(crate) fn push(&mut self, time: Instant, kind: Kind, subject: u32, stamp: u32) {
        self.sequence += 1;
        self.heap.push(Event { time, sequence: self.sequence, subject, stamp, kind });
    }

    /// Enters the end of an interval, before all else at that instant: what happens at a full
    /// second belongs to the second that begins.
    pub(crate) fn push_tick(&mut self, time: Instant) {
        self.heap.push(Event { time, sequence: 0, subject: 0, stamp: 0, kind: Kind::Tick });
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        self.heap.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::{Agenda, Kind};

    #[test]
    fn events_come_in_the_order_of_time_then_of_entry() {
        let mut agenda = Agenda::default();
        for (time, subject) in [(5, 1), (3, 2), (5, 3), (3, 4)] {
            agenda.push(time, Kind::Change, subject, 0);
        }
        agenda.push_tick(5);
        let order: Vec<u32> =
            std::iter::from_fn(|| agenda.pop()).map(|event| event.subject).collect();
        assert_eq!(order, [2, 4, 0, 1, 3]);
    }
}
