//! Damping of what callers see, as strong as it swings.

use serde::{Deserialize, Serialize};

/// Weight of a new value in what callers see.
pub(super) const WEIGHT: f64 = 0.5;

/// Watches the latency that callers see for swings. Where several callers meet, or calls fan out,
/// values that are one round old can swing for ever around a state that a real system rests in;
/// the more they do, the less weight a new value gets. A rise and a fall are no swing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Swing {
    /// Last extreme of the latency, seconds.
    pub extreme_s: f64,
    /// It has risen since the extreme before.
    pub rising: bool,
    /// Recent turns, forgotten one in [`TURN_MEMORY_S`].
    pub turns: f64,
}

impl Default for Swing {
    fn default() -> Self {
        Swing { extreme_s: 0.0, rising: false, turns: 0.0 }
    }
}

/// A turn is a change of direction by this factor.
const TURN: f64 = 1.25;
/// Turns that a fault and its end explain.
const TURNS_FREE: f64 = 4.0;
/// Seconds after which one turn is forgotten.
const TURN_MEMORY_S: f64 = 40.0;

impl Swing {
    /// Notes the latency seen after a round of `dt_s`.
    pub(super) fn note(&mut self, latency_s: f64, dt_s: f64) {
        self.turns = (self.turns - dt_s / TURN_MEMORY_S).max(0.0);
        let (up, down) = (latency_s > self.extreme_s, latency_s < self.extreme_s);
        if (self.rising && up) || (!self.rising && down) {
            self.extreme_s = latency_s;
            return;
        }
        let ratio = if self.rising {
            self.extreme_s / latency_s.max(1e-14)
        } else {
            latency_s / self.extreme_s.max(1e-14)
        };
        if ratio > TURN {
            self.rising = !self.rising;
            self.extreme_s = latency_s;
            self.turns = (self.turns + 1.0).min(TURNS_MAX);
        }
    }

    /// What swung up to now had a cause outside.
    pub(super) fn excuse(&mut self) {
        self.turns = 0.0;
    }

    /// Weight of a new value, (0, 0.5].
    pub(super) fn weight(&self) -> f64 {
        let excess = self.turns - TURNS_FREE;
        if excess <= 0.0 { WEIGHT } else { WEIGHT / (1.0 + excess * excess) }
    }
}

/// More turns than this are not counted: the weight stays above 0.013.
const TURNS_MAX: f64 = TURNS_FREE + 6.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_and_its_end_are_no_swing() {
        let mut s = Swing::default();
        for (latency, seconds) in [(0.01, 60), (0.3, 20), (0.01, 60)] {
            for _ in 0..seconds {
                s.note(latency, 1.0);
            }
        }
        assert_eq!(s.weight(), WEIGHT);
    }

    #[test]
    fn swings_are_damped_and_forgotten() {
        let mut s = Swing::default();
        for t in 0..100 {
            s.note(if t / 4 % 2 == 0 { 0.3 } else { 0.1 }, 1.0);
        }
        assert!(s.weight() < 0.1, "{}", s.weight());
        for _ in 0..500 {
            s.note(0.2, 1.0);
        }
        assert_eq!(s.weight(), WEIGHT);
        assert_eq!(s.turns, 0.0);
    }

    #[test]
    fn an_excused_swing_is_none() {
        let mut s = Swing::default();
        for t in 0..100 {
            if t % 4 == 0 {
                s.excuse();
            }
            s.note(if t / 4 % 2 == 0 { 0.3 } else { 0.1 }, 1.0);
            assert_eq!(s.weight(), WEIGHT);
        }
    }
}
