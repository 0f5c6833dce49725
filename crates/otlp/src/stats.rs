//! What became of export requests: for a page of metrics and for a note at the end.

use crate::payload::Signal;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of one signal.
#[derive(Debug, Default)]
struct Of {
    sent: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
    rejected: AtomicU64,
}

/// Counts of all signals; they only grow.
#[derive(Debug, Default)]
pub struct Stats {
    signals: [Of; 3],
    unread: AtomicU64,
}

/// Counts at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Export requests that the collector took.
    pub sent: u64,
    /// Export requests that it did not take, or that it never answered.
    pub failed: u64,
    /// Export requests for which the queue had no room.
    pub dropped: u64,
    /// Spans, records and points that it refused out of requests that it took.
    pub rejected: u64,
}

impl Counts {
    /// Requests that were lost.
    pub fn errors(&self) -> u64 {
        self.failed + self.dropped
    }
}

impl Stats {
    fn of(&self, signal: Signal) -> &Of {
        &self.signals[signal as usize]
    }

    pub(crate) fn sent(&self, signal: Signal, rejected: u64) {
        self.of(signal).sent.fetch_add(1, Ordering::Relaxed);
        self.of(signal).rejected.fetch_add(rejected, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self, signal: Signal, requests: u64) {
        self.of(signal).failed.fetch_add(requests, Ordering::Relaxed);
    }

    pub(crate) fn dropped(&self, signal: Signal) {
        self.of(signal).dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// A window of an episode could not be read from its components and is missing.
    pub fn unread(&self) {
        self.unread.fetch_add(1, Ordering::Relaxed);
    }

    /// Windows that are missing.
    pub fn windows_unread(&self) -> u64 {
        self.unread.load(Ordering::Relaxed)
    }

    /// The counts of a signal now.
    pub fn counts(&self, signal: Signal) -> Counts {
        let of = self.of(signal);
        Counts {
            sent: of.sent.load(Ordering::Relaxed),
            failed: of.failed.load(Ordering::Relaxed),
            dropped: of.dropped.load(Ordering::Relaxed),
            rejected: of.rejected.load(Ordering::Relaxed),
        }
    }

    /// The counts of all signals together.
    pub fn all(&self) -> Counts {
        Signal::ALL.iter().map(|signal| self.counts(*signal)).fold(Counts::default(), |a, b| {
            Counts {
                sent: a.sent + b.sent,
                failed: a.failed + b.failed,
                dropped: a.dropped + b.dropped,
                rejected: a.rejected + b.rejected,
            }
        })
    }
}
