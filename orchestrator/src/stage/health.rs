//! The health of a component, computed from what it publishes and from nothing else. Every dialect
//! shows this one judgment in its own words.
//!
//! - *Down*: no replica runs, or at least [`ERRORS_DOWN`] of the requests end badly.
//! - *Degraded*: at least [`ERRORS_DEGRADED`] of them do, or the 95th percentile of the time that
//!   answers take is above the component's latency objective.
//! - *Healthy*: neither.
//!
//! A request that waits in vain for a dependency ends badly at the caller too, so harm is seen
//! where it is felt; where it comes from is for the agent to find out.

use episode::Episode;
use fleet::Fleet;

/// Share of bad requests from which a component is degraded.
pub const ERRORS_DEGRADED: f64 = 0.05;
/// Share of bad requests from which nobody can use it.
pub const ERRORS_DOWN: f64 = 0.95;

/// How a component does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// It serves as it should.
    Healthy,
    /// It serves badly.
    Degraded,
    /// It does not serve.
    Down,
}

/// A component and the time within which its answers are to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// Name of the component.
    pub component: &'static str,
    /// Largest 95th percentile of its answers' time, seconds.
    pub latency_s: f64,
}

/// What a component publishes that its health follows from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Published {
    /// Replicas that take requests.
    pub running: f64,
    /// Share of requests that do not end well, 0..=1.
    pub errors: f64,
    /// 95th percentile of the time of successes, seconds.
    pub latency_s: f64,
}

impl Published {
    /// Of a component of an episode, as of its last tick; a name that is none publishes nothing.
    pub fn of<F: Fleet>(episode: &Episode<F>, component: &str) -> Published {
        let Some(id) = episode.scenario().topology.instance(component) else {
            return Published::default();
        };
        let signal = |name| episode.signal(id, name).unwrap_or(0.0);
        Published {
            running: signal("replicas.running"),
            errors: signal("requests.error.ratio"),
            latency_s: signal("latency.p95.seconds"),
        }
    }

    /// The judgment.
    pub fn health(self, latency_objective_s: f64) -> Health {
        if self.running < 0.5 || self.errors >= ERRORS_DOWN {
            Health::Down
        } else if self.errors >= ERRORS_DEGRADED || self.latency_s > latency_objective_s {
            Health::Degraded
        } else {
            Health::Healthy
        }
    }
}

impl Objective {
    /// How the component does in this episode now.
    pub fn health<F: Fleet>(&self, episode: &Episode<F>) -> Health {
        Published::of(episode, self.component).health(self.latency_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_follows_from_what_is_published() {
        for (running, errors, latency_s, health) in [
            (2.0, 0.0, 0.1, Health::Healthy),
            (2.0, 0.049, 0.5, Health::Healthy),
            (2.0, 0.05, 0.1, Health::Degraded),
            (2.0, 0.0, 0.51, Health::Degraded),
            (2.0, 0.94, 9.0, Health::Degraded),
            (2.0, 0.95, 0.1, Health::Down),
            (0.0, 0.0, 0.0, Health::Down),
        ] {
            let published = Published { running, errors, latency_s };
            assert_eq!(published.health(0.5), health, "{published:?}");
        }
        assert!(Health::Healthy < Health::Degraded && Health::Degraded < Health::Down);
    }
}
