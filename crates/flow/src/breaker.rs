//! Circuit breaker of one edge: closed, open, probing.

use model::BreakerPolicy;
use serde::{Deserialize, Serialize};

/// Seconds of probing before a breaker decides.
pub const PROBE_S: f64 = 1.0;

/// Which of its three states a breaker is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// All calls pass.
    #[default]
    Closed,
    /// No call passes.
    Open,
    /// A share of the calls passes.
    Probing,
}

/// State of one breaker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Breaker {
    /// Where it is.
    pub phase: Phase,
    /// Seconds left in an open or probing phase.
    pub left_s: f64,
}

impl Breaker {
    /// One round of `dt_s` with the failed share and rate of attempts; the share of calls let
    /// through, 0–1.
    pub fn pass(&mut self, policy: &BreakerPolicy, failed: f64, per_s: f64, dt_s: f64) -> f64 {
        let high = failed > policy.failure_ratio;
        match self.phase {
            Phase::Closed if high && per_s >= policy.volume_min => {
                self.enter(Phase::Open, policy.open_s);
            }
            Phase::Closed => {}
            Phase::Open => {
                self.left_s -= dt_s;
                if self.left_s <= 1e-9 {
                    self.enter(Phase::Probing, PROBE_S);
                }
            }
            Phase::Probing => {
                self.left_s -= dt_s;
                if self.left_s <= 1e-9 && high {
                    self.enter(Phase::Open, policy.open_s);
                } else if self.left_s <= 1e-9 {
                    self.enter(Phase::Closed, 0.0);
                }
            }
        }
        match self.phase {
            Phase::Closed => 1.0,
            Phase::Open => 0.0,
            Phase::Probing => policy.probe_ratio,
        }
    }

    fn enter(&mut self, phase: Phase, left_s: f64) {
        self.phase = phase;
        self.left_s = left_s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_probes_and_closes() {
        let policy =
            BreakerPolicy { failure_ratio: 0.5, volume_min: 20.0, open_s: 2.0, probe_ratio: 0.1 };
        let mut b = Breaker::default();
        assert_eq!(b.pass(&policy, 0.1, 100.0, 1.0), 1.0);
        assert_eq!(b.pass(&policy, 0.9, 1.0, 1.0), 1.0, "too few attempts");
        assert_eq!(b.pass(&policy, 0.9, 100.0, 1.0), 0.0);
        assert_eq!(b.pass(&policy, 0.9, 0.0, 1.0), 0.0);
        assert_eq!(b.pass(&policy, 0.9, 0.0, 1.0), 0.1, "probing");
        assert_eq!(b.pass(&policy, 0.9, 10.0, 1.0), 0.0, "still bad: open again");
        b.pass(&policy, 0.0, 0.0, 1.0);
        assert_eq!(b.pass(&policy, 0.0, 0.0, 1.0), 0.1);
        assert_eq!(b.pass(&policy, 0.0, 10.0, 1.0), 1.0);
        assert_eq!(b.phase, Phase::Closed);
    }
}
