//! Whether the next tick takes four rounds or one. A tick moves if something was ordered, pulled or
//! scheduled in it, or if attempt failure, lateness or load moved between the two ticks before, and
//! for three ticks after that. Absolute changes only: demand noise must not count.

use fleet::Reply;
use model::Motion;
use serde::{Deserialize, Serialize};

/// Rounds of a tick that moves.
const ROUNDS: u32 = 4;
const FAILURE_STEP: f64 = 0.05;
const LATENESS_STEP: f64 = 0.1;
const LOAD_STEP: f64 = 0.3;
const AFTER_TICKS: u32 = 3;

/// State of the decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mover {
    last: Vec<Motion>,
    /// Ticks that still take sub-steps.
    left: u32,
}

impl Mover {
    /// Something happens in this tick.
    pub(crate) fn disturb(&mut self) {
        self.left = self.left.max(AFTER_TICKS + 1);
    }

    /// Rounds of the tick that begins.
    pub(crate) fn rounds(&mut self) -> u32 {
        let moving = self.left > 0;
        self.left = self.left.saturating_sub(1);
        if moving { ROUNDS } else { 1 }
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
            self.disturb();
        }
    }
}
