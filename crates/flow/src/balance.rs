//! Variability of work and the balancer in front of several instances.

use crate::mmck::{Station, mmck};
use serde::{Deserialize, Serialize};

/// How requests are spread over the instances of a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Balance {
    /// One common queue: any free server takes the next request.
    #[default]
    Shared,
    /// Each request picks an instance blindly.
    Random,
    /// Instances in turn.
    RoundRobin,
    /// The shorter of two random queues.
    TwoChoices,
}

/// Diffusion factor κ for squared coefficients of variation of work (`cs2`) and of arrivals
/// (`ca2`): (ca² + cs²)/2 below 1, half of its excess above, since many servers share long jobs.
#[inline]
pub fn stretch(cs2: f64, ca2: f64) -> f64 {
    let k = ((ca2 + cs2) / 2.0).max(0.05);
    if k < 1.0 { k } else { 1.0 + (k - 1.0) / 2.0 }
}

/// Two choices lie this far from one shared queue towards blind choice (measured).
const TWO_CHOICES: f64 = 0.2;

/// `instances` of `servers / instances` servers each behind a balancer; `rate`, `servers` and
/// `places` are totals.
pub fn balanced(
    offered: f64,
    rate: f64,
    servers: f64,
    places: f64,
    instances: f64,
    how: Balance,
    cs2: f64,
) -> Station {
    if how == Balance::Shared || instances <= 1.0 {
        return mmck(offered, rate, servers, places, stretch(cs2, 1.0));
    }
    let n = instances;
    let ca2 = if how == Balance::RoundRobin { 1.0 / n } else { 1.0 };
    let one = mmck(offered / n, rate / n, servers / n, places / n, stretch(cs2, ca2));
    let apart = Station {
        served: n * one.served,
        queue: n * one.queue,
        queue_var: n * one.queue_var,
        ..one
    };
    if how != Balance::TwoChoices {
        return apart;
    }
    let shared = mmck(offered, rate, servers, places, stretch(cs2, 1.0));
    blend(shared, apart, TWO_CHOICES)
}

/// The station `w` of the way from `a` to `b`.
fn blend(a: Station, b: Station, w: f64) -> Station {
    let mix = |a: f64, b: f64| a + w * (b - a);
    Station {
        served: mix(a.served, b.served),
        refused: mix(a.refused, b.refused),
        busy: mix(a.busy, b.busy),
        queue: mix(a.queue, b.queue),
        queue_var: mix(a.queue_var, b.queue_var),
        wait: mix(a.wait, b.wait),
        wait_var: mix(a.wait_var, b.wait_var),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blind_balancer_waits_longer_than_a_shared_queue() {
        let at = |how| balanced(80.0, 100.0, 8.0, 80.0, 4.0, how, 1.0).wait;
        let (shared, two) = (at(Balance::Shared), at(Balance::TwoChoices));
        let (robin, random) = (at(Balance::RoundRobin), at(Balance::Random));
        assert!(shared < two && two < robin && robin < random, "{shared} {two} {robin} {random}");
    }

    #[test]
    fn steady_work_waits_less() {
        assert_eq!(stretch(0.0, 1.0), 0.5);
        assert_eq!(stretch(1.0, 1.0), 1.0);
        assert_eq!(stretch(4.0, 1.0), 1.75);
    }
}
