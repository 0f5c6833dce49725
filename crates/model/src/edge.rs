//! Edges between components: the caller's policy, and what a fault does to the calls on one.

use crate::params::Params;
use serde::{Deserialize, Serialize};

/// How a caller uses one dependency. Owned by the caller's machine; orders may change it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EdgePolicy {
    /// Time-out of one attempt, seconds, > 0.
    pub timeout_s: f64,
    /// Attempts after the first, 0..=10.
    pub retries: u32,
    /// Mean back-off before each retry, seconds, ≥ 0.
    pub backoff_s: f64,
    /// Retry budget: retries allowed per success (0.1 = 10 %); absent: unlimited.
    pub retry_budget: Option<f64>,
    /// Circuit breaker; absent: none.
    pub breaker: Option<BreakerPolicy>,
    /// Connection pool; absent: a connection per call, unlimited.
    pub pool: Option<PoolPolicy>,
    /// The attempt carries the caller's deadline and the callee drops expired work.
    pub propagate_deadline: bool,
}

impl Default for EdgePolicy {
    fn default() -> Self {
        EdgePolicy {
            timeout_s: 1.0,
            retries: 0,
            backoff_s: 0.0,
            retry_budget: None,
            breaker: None,
            pool: None,
            propagate_deadline: false,
        }
    }
}

/// When a breaker opens and how it probes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BreakerPolicy {
    /// Opens above this share of failed attempts, 0..1.
    pub failure_ratio: f64,
    /// … if at least this many attempts per second are made.
    pub volume_min: f64,
    /// Seconds it stays open before it probes.
    pub open_s: f64,
    /// Share of calls let through while it probes, 0..1.
    pub probe_ratio: f64,
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        BreakerPolicy { failure_ratio: 0.5, volume_min: 5.0, open_s: 10.0, probe_ratio: 0.05 }
    }
}

/// The connection pool of one edge (all replicas of the caller together).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PoolPolicy {
    /// Connections, > 0.
    pub size: f64,
    /// Longest wait for a connection, seconds.
    pub acquire_timeout_s: f64,
}

impl Default for PoolPolicy {
    fn default() -> Self {
        PoolPolicy { size: 64.0, acquire_timeout_s: 5.0 }
    }
}

/// What all active faults together do to the calls of one edge. Delays add, survival
/// probabilities multiply ([`EdgeFault::stack`]).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EdgeFault {
    /// Added round-trip time, seconds.
    pub delay_s: f64,
    /// Share of attempts whose request never arrives (the caller waits for its time-out).
    pub request_loss: f64,
    /// Share of answered attempts whose reply never arrives (the work was done).
    pub reply_loss: f64,
    /// Share of attempts answered at once with an error status by the link.
    pub abort: f64,
}

impl EdgeFault {
    /// No fault.
    pub const NONE: EdgeFault =
        EdgeFault { delay_s: 0.0, request_loss: 0.0, reply_loss: 0.0, abort: 0.0 };

    /// Both faults at once.
    #[must_use]
    pub fn stack(self, other: EdgeFault) -> EdgeFault {
        // A plus b less both, so that an absent fault leaves the other one bit for bit.
        let both = |a: f64, b: f64| a + b - a * b;
        EdgeFault {
            delay_s: self.delay_s + other.delay_s,
            request_loss: both(self.request_loss, other.request_loss),
            reply_loss: both(self.reply_loss, other.reply_loss),
            abort: both(self.abort, other.abort),
        }
    }

    /// What the lever `name` of a link does to its calls; no fault for other levers.
    pub fn of_lever(name: &str, args: &Params) -> EdgeFault {
        match name {
            "edge.abort" => EdgeFault { abort: args.number("ratio"), ..EdgeFault::NONE },
            "edge.latency" => EdgeFault { delay_s: args.number("delay"), ..EdgeFault::NONE },
            "edge.loss" => {
                let loss = args.number("ratio");
                EdgeFault { request_loss: loss, reply_loss: loss, ..EdgeFault::NONE }
            }
            "edge.partition" => match args.text("direction") {
                "reply" => EdgeFault { reply_loss: 1.0, ..EdgeFault::NONE },
                _ => EdgeFault { request_loss: 1.0, ..EdgeFault::NONE },
            },
            _ => EdgeFault::NONE,
        }
    }

    /// The verdict on one attempt, given two uniform draws in [0, 1).
    pub fn verdict(&self, outward: f64, homeward: f64) -> Verdict {
        if outward < self.abort {
            return Verdict::Abort;
        }
        if outward < self.abort + (1.0 - self.abort) * self.request_loss {
            return Verdict::DropRequest;
        }
        if homeward < self.reply_loss {
            return Verdict::DropReply;
        }
        if self.delay_s > 0.0 { Verdict::Delay(self.delay_s) } else { Verdict::Pass }
    }
}

impl Default for EdgeFault {
    fn default() -> Self {
        EdgeFault::NONE
    }
}

/// The decision on one attempt of the request plane; the mesh obeys it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    /// Nothing happens to it.
    Pass,
    /// It takes this much longer, seconds (virtual).
    Delay(f64),
    /// It never arrives: the caller's time-out passes.
    DropRequest,
    /// It is done, but the answer never arrives.
    DropReply,
    /// The link answers `UNAVAILABLE` at once.
    Abort,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_stack_by_adding_delays_and_multiplying_survival() {
        let a = EdgeFault { delay_s: 0.1, request_loss: 0.5, reply_loss: 0.0, abort: 0.2 };
        let b = EdgeFault { delay_s: 0.2, request_loss: 0.5, reply_loss: 0.1, abort: 0.0 };
        let both = a.stack(b);
        assert!((both.delay_s - 0.3).abs() < 1e-12);
        assert!((both.request_loss - 0.75).abs() < 1e-12);
        assert_eq!(a.stack(EdgeFault::NONE), a);
    }

    #[test]
    fn verdicts_follow_the_draws() {
        let fault = EdgeFault { delay_s: 0.1, request_loss: 0.5, reply_loss: 0.25, abort: 0.5 };
        assert_eq!(fault.verdict(0.49, 0.9), Verdict::Abort);
        assert_eq!(fault.verdict(0.74, 0.9), Verdict::DropRequest);
        assert_eq!(fault.verdict(0.76, 0.2), Verdict::DropReply);
        assert_eq!(fault.verdict(0.76, 0.3), Verdict::Delay(0.1));
        assert_eq!(EdgeFault::NONE.verdict(0.0, 0.0), Verdict::Pass);
    }
}
