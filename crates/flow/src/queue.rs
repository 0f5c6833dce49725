//! How a queue moves towards its stationary point within a round.

use crate::mmck::{IDLE, Station};
use libm::exp;

/// The station as it is during a round of `dt_s` that starts with `queue` waiting, given its
/// stationary point `st` at `offered`; `st.queue` of the result is the queue at the end.
///
/// The queue relaxes with τ = (1 + Var Q)/rate, no faster than drift and diffusion allow. While it
/// is far from its stationary point, arrivals = served + refused + change of the queue, exactly.
pub fn relax(st: Station, offered: f64, rate: f64, places: f64, queue: f64, dt_s: f64) -> Station {
    if rate <= 0.0 || dt_s <= 0.0 {
        return Station { queue: queue.min(places), ..st };
    }
    let steps = dt_s * rate / (1.0 + st.queue_var);
    // Beyond 40 time constants the exponential is below the last bit.
    let psi = if steps >= 40.0 { 1.0 } else { 1.0 - exp(-steps) };
    let wander = 1.1 * (rate * dt_s).sqrt();
    // No queue grows by more than what arrives.
    let up = ((offered - rate).max(0.0) * dt_s + wander).min(offered * dt_s);
    let edge = if queue > places - 2.0 * wander { wander } else { 0.0 };
    let down = ((rate - offered).max(0.0) * dt_s + edge).min(rate * dt_s);
    let end = (queue + ((st.queue - queue) * psi).clamp(-down, up)).clamp(0.0, places.max(0.0));
    if (end - st.queue).abs() <= 0.02 * st.queue + 0.5 {
        return Station { queue: end, ..st };
    }
    let mid = (queue + end) / 2.0;
    let growth = (end - queue) / dt_s;
    let refused =
        if offered > IDLE { (1.0 - (rate + growth) / offered).clamp(0.0, 1.0) } else { 0.0 };
    let served = (offered * (1.0 - refused) - growth).clamp(0.0, rate);
    let far = (mid / st.queue.max(1e-9)).min(1.0);
    let wait_var = psi * st.wait_var * far * far + (1.0 - psi) * mid / (rate * rate);
    Station { served, refused, queue: end, wait: mid / rate, wait_var, ..st }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mmck::mmck;

    #[test]
    fn a_long_queue_drains_at_the_spare_rate_and_conserves() {
        let (offered, rate, places) = (600.0, 1000.0, 2000.0);
        let st = mmck(offered, rate, 8.0, places, 1.0);
        let mut q = 1900.0;
        for _ in 0..3 {
            let now = relax(st, offered, rate, places, q, 1.0);
            let balance = offered - now.served - offered * now.refused - (now.queue - q);
            assert!(balance.abs() < 1e-9, "{balance}");
            assert!(now.queue < q && now.queue >= q - 500.0);
            q = now.queue;
        }
    }

    #[test]
    fn a_short_queue_is_at_its_stationary_point() {
        let st = mmck(690.0, 1000.0, 8.0, 64.0, 1.0);
        assert_eq!(relax(st, 690.0, 1000.0, 64.0, st.queue, 1.0), st);
    }

    #[test]
    fn an_overloaded_one_fills_and_then_refuses() {
        let (offered, rate, places) = (1500.0, 1000.0, 2000.0);
        let st = mmck(offered, rate, 8.0, places, 1.0);
        let (mut q, mut refused) = (0.0, 0.0);
        for _ in 0..8 {
            let now = relax(st, offered, rate, places, q, 1.0);
            (q, refused) = (now.queue, now.refused);
        }
        assert!(q > 1990.0 && (refused - 1.0 / 3.0).abs() < 0.01, "{q} {refused}");
    }
}
