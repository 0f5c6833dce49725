//! Entries that were written at one instant and expire at one instant, again and again.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Expiry {
    /// The next tick at which they expire; `None`: there are none.
    next: Option<i64>,
    /// Since when they expire one after the other, and for how long, seconds.
    since: i64,
    window_s: f64,
}

/// How entries live.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Life {
    /// Time to live, seconds.
    pub(crate) ttl_s: f64,
    /// Share of it by which it is drawn shorter, 0..=1.
    pub(crate) jitter: f64,
}

/// What goes in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gone {
    /// Share of the content that is gone at once.
    pub(crate) at_once: f64,
    /// Share of the content that goes per second.
    pub(crate) rate: f64,
}

impl Expiry {
    /// A share `ratio` of what is asked for was written at one instant; 0: there is no such thing.
    /// Jitter draws every life anew, so that what expires together comes further apart each time.
    pub(crate) fn round(&mut self, tick: i64, ratio: f64, life: Life) -> Gone {
        if ratio <= 0.0 {
            *self = Expiry::default();
            return Gone::default();
        }
        let mut gone = Gone::default();
        if tick >= self.next.unwrap_or(tick) {
            self.next = Some(tick + (life.ttl_s as i64).max(1));
            self.window_s = (self.window_s + life.jitter * life.ttl_s).min(life.ttl_s);
            self.since = tick;
            if self.window_s < 1.0 {
                gone.at_once = ratio;
            }
        }
        if self.window_s >= 1.0 && ((tick - self.since) as f64) < self.window_s {
            gone.rate = ratio / self.window_s;
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts(life: impl Fn(i64) -> Life) -> (Vec<i64>, Vec<f64>) {
        let mut expiry = Expiry::default();
        let (mut at, mut rates) = (Vec::new(), Vec::new());
        for tick in 0..400 {
            let gone = expiry.round(tick, 0.6, life(tick));
            // A second round of the same tick loses nothing more.
            assert_eq!(expiry.round(tick, 0.6, life(tick)).at_once, 0.0);
            if gone.at_once > 0.0 {
                at.push(tick);
            }
            rates.push(gone.rate);
        }
        (at, rates)
    }

    #[test]
    fn they_expire_together_every_time_to_live_until_jitter_spreads_them() {
        let (at, rates) = bursts(|_| Life { ttl_s: 100.0, jitter: 0.0 });
        assert_eq!(at, [0, 100, 200, 300]);
        assert!(rates.iter().all(|rate| *rate == 0.0));
        let later = |tick| Life { ttl_s: 100.0, jitter: if tick > 150 { 0.3 } else { 0.0 } };
        let (at, rates) = bursts(later);
        assert_eq!(at, [0, 100]);
        assert_eq!((rates[199], rates[229], rates[230]), (0.0, 0.02, 0.0));
        assert_eq!((rates[359], rates[360]), (0.01, 0.0), "twice as far apart");
    }

    #[test]
    fn without_a_cause_there_is_nothing() {
        let mut expiry = Expiry::default();
        let life = Life { ttl_s: 10.0, jitter: 0.0 };
        assert_eq!(expiry.round(0, 0.5, life).at_once, 0.5);
        assert_eq!(expiry.round(1, 0.0, life), Gone::default());
        assert_eq!(expiry, Expiry::default());
    }
}
