//! Connection pool of one edge: who waits for a connection, and who gives up.

use crate::mmck::mmck;

/// What a pool does to the attempts of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PoolUse {
    /// Mean seconds an attempt waits for a connection.
    pub wait_s: f64,
    /// Share of attempts that give up without one, 0–1.
    pub refused: f64,
    /// Connections in use, leaked ones not counted.
    pub in_use: f64,
    /// Attempts waiting for a connection.
    pub waiting: f64,
}

/// Longest patience that is modeled, seconds.
const PATIENCE_MAX_S: f64 = 60.0;

/// `size` usable connections, each held `hold_s` per attempt, `attempts_per_s` wanted; who waits
/// longer than `acquire_s` fails. A station whose places are the time that callers wait.
pub fn pool(size: f64, hold_s: f64, attempts_per_s: f64, acquire_s: f64) -> PoolUse {
    let size = size.max(1e-3);
    let rate = size / hold_s.max(1e-6);
    let patience = acquire_s.min(PATIENCE_MAX_S);
    let st = mmck(attempts_per_s.max(1e-6), rate, size, rate * patience, 1.0);
    PoolUse {
        wait_s: st.wait * (1.0 - st.refused) + st.refused * patience,
        refused: st.refused,
        in_use: (st.served * hold_s).min(size),
        waiting: st.queue,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_pool_is_free_and_a_narrow_one_refuses() {
        let wide = pool(50.0, 0.01, 1000.0, 1.0);
        assert!(wide.wait_s < 1e-4 && wide.refused < 1e-9);
        assert!((wide.in_use - 10.0).abs() < 0.01);
        let narrow = pool(5.0, 0.01, 1000.0, 1.0);
        assert!((narrow.refused - 0.5).abs() < 0.01, "{narrow:?}");
        assert!(narrow.wait_s > 0.9 && narrow.in_use <= 5.0);
        let leaked = pool(0.0, 0.01, 1000.0, 1.0);
        assert!(leaked.refused > 0.99);
    }
}
