//! How many rounds the next tick takes. Where something was ordered, pulled or scheduled, what
//! follows runs through the graph faster than a quarter of a second per edge: that tick and the
//! three after it take sixteen. A tick takes four if attempt failure, lateness or load moved
//! between the two ticks before, and for three ticks after that; else one. Absolute changes only:
//! demand noise must not count. What the rounds are worth is in `docs/fidelity.md`.

use fleet::Reply;
use model::Motion;
use serde::{Deserialize, Serialize};

/// Rounds of a tick at an onset.
const ONSET_ROUNDS: u32 = 16;
/// Rounds of a tick that moves.
const MOVING_ROUNDS: u32 = 4;
const FAILURE_STEP: f64 = 0.05;
const LATENESS_STEP: f64 = 0.1;
const LOAD_STEP: f64 = 0.3;
/// Ticks that an onset, or a move, makes finer.
const TICKS: u32 = 4;

/// State of the decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mover {
    last: Vec<Motion>,
    /// Ticks that still count as an onset.
    onset: u32,
    /// Ticks that still count as moving.
    moving: u32,
}

impl Mover {
    /// Something happens in this tick.
    pub(crate) fn disturb(&mut self) {
        self.onset = TICKS;
    }

    /// Rounds of the tick that begins.
    pub(crate) fn rounds(&mut self) -> u32 {
        let rounds = match (self.onset, self.moving) {
            (1.., _) => ONSET_ROUNDS,
            (0, 1..) => MOVING_ROUNDS,
            (0, 0) => 1,
        };
        self.onset = self.onset.saturating_sub(1);
        self.moving = self.moving.saturating_sub(1);
        rounds
    }

    /// Looks at how the tick ended; `users` is the motion on the far side of the first edge.
    pub(crate) fn look(&mut self, replies: &[Reply], users: Motion) {
        let count = replies.len() + 1;
        let first = self.last.len() != count;
        self.last.resize(count, Motion::default());
        let mut moved = false;
        let now = replies.iter().map(|r| r.outbox.motion).chain([users]);
        for (before, now) in self.last.iter_mut().zip(now) {
            moved |= (now.failure - before.failure).abs() > FAILURE_STEP
                || (now.lateness.min(1.5) - before.lateness.min(1.5)).abs() > LATENESS_STEP
                || (now.load.min(1.5) - before.load.min(1.5)).abs() > LOAD_STEP;
            *before = now;
        }
        if moved && !first {
            self.moving = TICKS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved_by(failure: f64) -> Motion {
        Motion { failure, ..Motion::default() }
    }

    #[test]
    fn an_onset_is_fine_a_move_less_so_and_calm_is_one_round() {
        let mut mover = Mover::default();
        mover.look(&[], moved_by(0.0));
        assert_eq!(mover.rounds(), 1);
        mover.look(&[], moved_by(0.06));
        assert_eq!([0; 5].map(|_| mover.rounds()), [4, 4, 4, 4, 1]);
        mover.look(&[], moved_by(0.1));
        assert_eq!(mover.rounds(), 1, "a move of 0.04 is none");
        mover.disturb();
        let rounds = [0.1, 0.5, 0.5, 0.5, 0.5, 0.5].map(|failure| {
            let rounds = mover.rounds();
            mover.look(&[], moved_by(failure));
            rounds
        });
        assert_eq!(rounds, [16, 16, 16, 16, 4, 4], "the second tick moved");
    }
}
