//! Virtual time. One tick is one simulated second; nothing in the world reads a clock.

use serde::{Deserialize, Serialize};

/// Ticks in a simulated minute.
pub const MINUTE: i64 = 60;

/// One simulated second. Tick 0 is the page; warm-up ticks are negative.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Tick(pub i64);

impl Tick {
    /// This tick moved by `seconds` (negative: earlier).
    pub fn plus(self, seconds: i64) -> Tick {
        Tick(self.0 + seconds)
    }

    /// Seconds from `earlier` to this tick.
    pub fn since(self, earlier: Tick) -> i64 {
        self.0 - earlier.0
    }
}

impl std::fmt::Display for Tick {
    /// `t+00:01:05`, or `t-00:04:00` in the warm-up.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (sign, s) = if self.0 < 0 { ('-', -self.0) } else { ('+', self.0) };
        write!(f, "t{sign}{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_prints_as_a_signed_clock() {
        assert_eq!(Tick(65).to_string(), "t+00:01:05");
        assert_eq!(Tick(-240).to_string(), "t-00:04:00");
    }
}
