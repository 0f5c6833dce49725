//! What a component is (its specification) and what happens to it in a round (its knobs).
//!
//! Neither is state: orders change the one, the component's machine computes the other.

use crate::balance::Balance;
use model::{CLASSES_MAX, EdgeFault, EdgeId, EdgePolicy, GROUPS_MAX, PerClass, Resolution};
use serde::{Deserialize, Serialize};

/// A station with its own work and its dependencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TierSpec {
    /// Request classes of the topology, 1..=[`CLASSES_MAX`].
    pub classes: u8,
    /// Mean own work of one request, seconds of a slot, > 0.
    pub service_s: f64,
    /// Coefficient of variation of that work, ≥ 0; 1 is exponential.
    pub service_cv: f64,
    /// Requests that one replica works on at once (slots), > 0.
    pub concurrency: f64,
    /// Requests that may wait per replica before one is refused, ≥ 0.
    pub queue: f64,
    /// How requests are spread over the replicas.
    pub balance: Balance,
    /// Dependencies, called one after the other in this order.
    pub edges: Vec<EdgeSpec>,
}

impl Default for TierSpec {
    fn default() -> Self {
        TierSpec {
            classes: 1,
            service_s: 0.005,
            service_cv: 1.0,
            concurrency: 16.0,
            queue: 64.0,
            balance: Balance::Shared,
            edges: Vec::new(),
        }
    }
}

/// The caller's side of one dependency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EdgeSpec {
    /// Its id.
    pub id: EdgeId,
    /// Calls per request of each class, ≥ 0: 0.3 calls on 30 % of the requests, 10 one by one.
    pub calls: PerClass,
    /// A failed call does not fail the request.
    pub optional: bool,
    /// Time-out, retries, breaker, pool.
    pub policy: EdgePolicy,
}

impl Default for EdgeSpec {
    fn default() -> Self {
        EdgeSpec {
            id: EdgeId(0),
            calls: [1.0; CLASSES_MAX],
            optional: false,
            policy: EdgePolicy::default(),
        }
    }
}

/// One replica group in this round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupKnobs {
    /// Replicas that run and take requests.
    pub running: f64,
    /// Own work takes this many times as long, > 0.
    pub slow: f64,
    /// Share of requests that fail by this group's own error, 0–1.
    pub error: f64,
}

impl Default for GroupKnobs {
    fn default() -> Self {
        GroupKnobs { running: 0.0, slow: 1.0, error: 0.0 }
    }
}

/// One outgoing edge in this round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EdgeKnobs {
    /// What faults do to its calls.
    pub fault: EdgeFault,
    /// No call passes, whatever the breaker says.
    pub forced_open: bool,
    /// Share of attempts that never give their connection back, 0–1.
    pub leak: f64,
    /// Stands in for the policy of the specification.
    pub policy: Option<EdgePolicy>,
    /// What the callers get for the callee's name: a process asks a cache, so all attempts of a
    /// call get the same.
    pub names: Resolution,
}

/// What faults, hosts and deployments make of a component in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knobs {
    /// Replica groups; each attempt draws a running replica afresh.
    pub groups: [GroupKnobs; GROUPS_MAX],
    /// Own work of a class takes this many times as long, > 0.
    pub slow: PerClass,
    /// Share of a class that fails by an own error, 0–1.
    pub error: PerClass,
    /// Share of a class turned away before it takes a slot (shed, rate limit), 0–1.
    pub refuse: PerClass,
    /// Seconds that a class holds its slot without working (a lock), ≥ 0.
    pub lock_wait_s: PerClass,
    /// Stands in for the concurrency of the specification.
    pub concurrency: Option<f64>,
    /// Stands in for the queue of the specification.
    pub queue: Option<f64>,
    /// One per edge, in the order of the specification; missing ones are calm.
    pub edges: Vec<EdgeKnobs>,
}

impl Knobs {
    /// `replicas` healthy replicas in one group.
    pub fn calm(replicas: f64) -> Knobs {
        let mut groups = [GroupKnobs::default(); GROUPS_MAX];
        groups[0].running = replicas;
        Knobs {
            groups,
            slow: [1.0; CLASSES_MAX],
            error: [0.0; CLASSES_MAX],
            refuse: [0.0; CLASSES_MAX],
            lock_wait_s: [0.0; CLASSES_MAX],
            concurrency: None,
            queue: None,
            edges: Vec::new(),
        }
    }

    /// Everything as in [`Knobs::calm`] with no replicas, in place.
    pub fn reset(&mut self) {
        self.groups = [GroupKnobs::default(); GROUPS_MAX];
        self.slow = [1.0; CLASSES_MAX];
        self.error = [0.0; CLASSES_MAX];
        self.refuse = [0.0; CLASSES_MAX];
        self.lock_wait_s = [0.0; CLASSES_MAX];
        (self.concurrency, self.queue) = (None, None);
        self.edges.clear();
    }

    /// Replicas that run, over all groups.
    pub fn running(&self) -> f64 {
        self.groups.iter().map(|g| g.running.max(0.0)).sum()
    }

    /// Edge `at`, made calm ones up to there if missing.
    pub fn edge_mut(&mut self, at: usize) -> &mut EdgeKnobs {
        if self.edges.len() <= at {
            self.edges.resize_with(at + 1, EdgeKnobs::default);
        }
        &mut self.edges[at]
    }
}

/// An edge on which nothing happens.
pub(crate) const CALM_EDGE: EdgeKnobs = EdgeKnobs {
    fault: EdgeFault::NONE,
    forced_open: false,
    leak: 0.0,
    policy: None,
    names: Resolution::RIGHT,
};
