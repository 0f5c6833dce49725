//! The circuit breaker of an edge: a pure machine of outcomes and instants. It does not know what
//! the attempts are.

use crate::agenda::{Instant, instant};
use crate::config;

const PARTS: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed,
    Open { until: Instant },
    HalfOpen { admitted: u32, succeeded: u32 },
}

/// The state of a breaker.
#[derive(Debug)]
pub(crate) struct Breaker {
    from: Instant,
    threshold: f64,
    volume: u32,
    open: Instant,
    probes: u32,
    part: Instant,
    state: State,
    /// Good and bad attempts in the tenths of the window; `newest` numbers the last of them.
    counts: [[u32; 2]; PARTS],
    newest: u64,
}

impl Breaker {
    pub(crate) fn new(config: &config::Breaker) -> Self {
        Self {
            from: instant(config.from),
            threshold: config.threshold,
            volume: config.volume,
            open: instant(config.open),
            probes: config.probes.max(1),
            part: instant(config.window / PARTS as f64).max(1),
            state: State::Closed,
            counts: [[0; 2]; PARTS],
            newest: 0,
        }
    }

    /// May an attempt pass?
    pub(crate) fn admits(&mut self, now: Instant) -> bool {
        if let State::Open { until } = self.state
            && now >= until
        {
            self.state = State::HalfOpen { admitted: 0, succeeded: 0 };
        }
        match &mut self.state {
            State::Closed => true,
            State::Open { .. } => false,
            State::HalfOpen { admitted, .. } => {
                *admitted += 1;
                *admitted <= self.probes
            }
        }
    }

    /// An attempt ended; true if this opens the breaker.
    pub(crate) fn record(&mut self, now: Instant, good: bool) -> bool {
        if now < self.from {
            return false;
        }
        match &mut self.state {
            State::Closed => {
                self.count(now, good);
                let [fine, bad] =
                    self.counts.iter().fold([0, 0], |a, c| [a[0] + c[0], a[1] + c[1]]);
                let all = fine + bad;
                let trip = all >= self.volume && f64::from(bad) > self.threshold * f64::from(all);
                if trip && !good {
                    self.trip(now);
                }
                trip && !good
            }
            State::Open { .. } => false,
            State::HalfOpen { .. } if !good => {
                self.trip(now);
                true
            }
            State::HalfOpen { succeeded, .. } => {
                *succeeded += 1;
                if *succeeded >= self.probes {
                    self.state = State::Closed;
                }
                false
            }
        }
    }

    fn trip(&mut self, now: Instant) {
        self.state = State::Open { until: now + self.open };
        self.counts = [[0; 2]; PARTS];
    }

    fn count(&mut self, now: Instant, good: bool) {
        let number = now / self.part;
        let passed = (number - self.newest).min(PARTS as u64);
        for part in 0..passed {
            self.counts[((number - part) % PARTS as u64) as usize] = [0; 2];
        }
        self.newest = number;
        self.counts[(number % PARTS as u64) as usize][usize::from(!good)] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::Breaker;
    use crate::agenda::instant;
    use crate::config;

    fn breaker() -> Breaker {
        let (window, open) = (1.0, 5.0);
        let config =
            config::Breaker { from: 0.0, threshold: 0.5, window, volume: 10, open, probes: 2 };
        Breaker::new(&config)
    }

    #[test]
    fn it_opens_above_the_threshold_and_only_with_enough_attempts() {
        let mut b = breaker();
        assert!((0..9).all(|_| !b.record(0, false)));
        assert!(b.record(0, false));
        assert!(!b.admits(instant(4.9)));
        assert!(b.admits(instant(5.0)));
    }

    #[test]
    fn old_failures_leave_the_window() {
        let mut b = breaker();
        assert!((0..9).all(|_| !b.record(0, false)));
        assert!(!b.record(instant(1.5), false));
        assert!(b.admits(instant(1.5)));
    }

    #[test]
    fn probes_decide() {
        let mut b = breaker();
        assert_eq!((0..10).filter(|_| b.record(0, false)).count(), 1);
        assert_eq!([(); 3].map(|()| b.admits(instant(5.0))), [true, true, false]);
        assert!(b.record(instant(5.1), false));
        assert!(!b.admits(instant(10.0)));
        assert!(b.admits(instant(10.1)));
        assert!(!b.record(instant(10.2), true));
        assert!(b.admits(instant(10.2)));
        assert!(!b.record(instant(10.2), true));
        assert_eq!([(); 3].map(|()| b.admits(instant(10.3))), [true; 3]);
    }
}
