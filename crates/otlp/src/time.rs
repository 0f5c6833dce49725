//! Simulated time on OTLP's scale. Tick 0 of every episode, the page, is at one fixed instant, so
//! that the same episode has the same times whenever it is played.

use model::Tick;

/// Unix time of tick 0, seconds: 2026-01-01T00:00:00Z.
pub const EPOCH_S: i64 = 1_767_225_600;

const SECOND: f64 = 1e9;

/// Nanoseconds of Unix time `offset_s` seconds after the start of `tick`.
pub fn nanos(tick: Tick, offset_s: f64) -> u64 {
    let whole = (EPOCH_S + tick.0) * 1_000_000_000;
    (whole + (offset_s * SECOND).round() as i64).max(0) as u64
}

/// Seconds between two of these.
pub fn seconds(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64 / SECOND
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_at_the_epoch_and_the_warm_up_before_it() {
        assert_eq!(nanos(Tick(0), 0.0), 1_767_225_600_000_000_000);
        assert_eq!(nanos(Tick(-300), 0.25), 1_767_225_300_250_000_000);
        assert_eq!(seconds(nanos(Tick(1), 0.5), nanos(Tick(3), 0.0)), 1.5);
    }
}
