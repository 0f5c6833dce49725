//! The replica of a database: how far it is behind, and what a failover loses.

use serde::{Deserialize, Serialize};

/// The replica catches up at this many seconds per second.
const CATCH_UP: f64 = 2.0;
/// A failover takes this long, seconds.
const FAILOVER_S: i64 = 25;
/// After a restart or a failover the buffers are empty: work takes this much more.
const COLD: f64 = 1.0;
/// Buffers fill with this time constant, seconds.
const WARM_S: f64 = 60.0;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Replication {
    /// Seconds that the replica is behind.
    pub(crate) lag_s: f64,
    /// No primary until this tick.
    pub(crate) until: i64,
    /// A failover happened; the value before the first is not a tick.
    pub(crate) failing_over: bool,
    /// How cold the buffers are, 0..=1.
    pub(crate) cold: f64,
    /// Acknowledged writes that a failover lost.
    pub(crate) lost_writes: f64,
}

impl Replication {
    /// One round in which the replica falls behind by `rate` seconds per second; buffers fill while
    /// somebody is served.
    pub(crate) fn round(&mut self, rate: f64, serving: bool, delta_s: f64) {
        let change = if rate > 0.0 { rate } else { -CATCH_UP };
        self.lag_s = (self.lag_s + change * delta_s).max(0.0);
        if serving {
            self.cold *= 1.0 - delta_s / WARM_S;
        }
        if self.cold < 1e-3 {
            self.cold = 0.0;
        }
    }

    /// The replica takes over; `writes` per second were acknowledged.
    pub(crate) fn fail_over(&mut self, tick: i64, writes: f64) {
        self.lost_writes += self.lag_s * writes;
        self.lag_s = 0.0;
        self.until = tick + FAILOVER_S;
        self.failing_over = true;
        self.cold = 1.0;
    }

    /// Whether there is no primary at `tick`.
    pub(crate) fn down(&self, tick: i64) -> bool {
        self.failing_over && tick < self.until
    }

    /// Factor on own work.
    pub(crate) fn slow(&self) -> f64 {
        1.0 + COLD * self.cold
    }

    /// Share of replica reads that are stale: those younger than the lag, with ages spread evenly
    /// over a minute.
    pub(crate) fn stale(&self) -> f64 {
        (self.lag_s / 60.0).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_grows_recovers_and_costs_writes_at_a_failover() {
        let mut replica = Replication::default();
        for _ in 0..40 {
            replica.round(0.5, true, 1.0);
        }
        assert!((replica.lag_s - 20.0).abs() < 1e-9);
        let mut patient = replica.clone();
        for _ in 0..10 {
            patient.round(0.0, true, 1.0);
        }
        assert_eq!((patient.lag_s, patient.lost_writes), (0.0, 0.0));
        replica.fail_over(100, 30.0);
        assert_eq!(replica.lost_writes, 600.0);
        assert!(replica.down(124) && !replica.down(125));
        replica.round(0.0, false, 20.0);
        assert_eq!(replica.slow(), 2.0, "nobody is served, nothing gets warm");
        replica.round(0.0, true, 6.0);
        assert!((replica.slow() - 1.9).abs() < 1e-9);
    }
}
