//! The server core of one instance: what it was made of, and its state.

use crate::group::Group;
use crate::health::HealthCheck;
use crate::round::Beside;
use crate::signals;
use flow::{Knobs, TierSpec, TierState};
use machine::{SnapshotError, decode, encode};
use model::{
    CLASSES_MAX, Calls, Digest, EdgePolicy, Grant, LeverPull, ParamError, PerClass, Setup,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A pulled lever. Orders can heal its effect before the fault lets go of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Active {
    /// The pull.
    pub pull: LeverPull,
    /// An order undid it.
    pub healed: bool,
    /// First tick it was in force.
    pub since: i64,
}

/// Everything of a server that changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerState {
    /// Replica groups.
    pub groups: Vec<Group>,
    /// Present policy of each outgoing edge.
    pub policies: Vec<EdgePolicy>,
    /// Places in the queue of one replica.
    pub queue: f64,
    /// Share turned away per class, by order.
    pub shed: PerClass,
    /// The health check, as parameters and orders have it.
    pub check: HealthCheck,
    /// The tick in which replicas were probed last.
    pub probed: i64,
    /// Pulled levers, oldest first.
    pub active: Vec<Active>,
    /// Values noted last in the change list, in the order of their notes.
    pub noted: Vec<f64>,
}

/// Parameters that every round reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed {
    /// Memory of a fresh replica, bytes.
    pub memory: f64,
    /// Memory at which the host kills a replica, bytes.
    pub memory_limit: f64,
    /// Share of own work that burns CPU.
    pub cpu_share: f64,
    /// Share of requests that replicas of an old version fail.
    pub outdated_errors: f64,
}

/// The server core.
#[derive(Clone, Debug)]
pub struct Server {
    /// What it was created from.
    pub setup: Setup,
    /// Station and edges; the policies in it follow the state's.
    pub spec: TierSpec,
    /// Queue, breakers, budgets, pools.
    pub tier: TierState,
    /// What changes.
    pub state: ServerState,
    /// What never changes and is read often.
    pub fixed: Fixed,
    /// Knobs of the last round, rebuilt in every one.
    pub knobs: Knobs,
    /// Attempts that come over no edge of the topology, set by a kind for the round.
    pub beside: Option<Calls>,
    /// Part of what was noted last; not part of the state, for whoever takes a snapshot over
    /// computes a round in full first.
    pub(crate) noted_beside: Option<Beside>,
}

impl Server {
    /// A server in its first state.
    ///
    /// # Errors
    /// Where the setup has no replica group, or more columns than fit.
    pub fn create(setup: &Setup, extra_columns: usize) -> Result<Server, ParamError> {
        let bad = |name: &str, message: String| ParamError { name: name.into(), message };
        if setup.spec.groups.is_empty() {
            return Err(bad("replicas", "a server needs at least one replica group".into()));
        }
        let columns = signals::columns(setup, &[]).len() + extra_columns;
        if columns > model::COLUMNS_MAX {
            let message = format!(
                "{} outgoing edges need {columns} history columns, at most {} fit",
                setup.outgoing.len(),
                model::COLUMNS_MAX
            );
            return Err(bad("edges", message));
        }
        let params = &setup.spec.params;
        let group = |(at, g): (usize, &model::GroupSpec)| {
            let grant = Grant::ample(setup.id, at as u8, g.replicas);
            Group::new(g, grant, params.number("memory"))
        };
        let state = ServerState {
            groups: setup.spec.groups.iter().enumerate().map(group).collect(),
            policies: setup.outgoing.iter().map(|e| e.policy.clone()).collect(),
            queue: params.number("queue"),
            shed: [0.0; CLASSES_MAX],
            check: HealthCheck::of(params),
            probed: i64::MIN,
            active: Vec::new(),
            noted: Vec::new(),
        };
        let spec = tier_spec(setup);
        let tier = TierState::new(&spec);
        let fixed = Fixed {
            memory: params.number("memory"),
            memory_limit: params.number("memory_limit"),
            cpu_share: params.number("cpu_share"),
            outdated_errors: params.number("outdated_errors"),
        };
        Ok(Server {
            setup: setup.clone(),
            spec,
            tier,
            state,
            fixed,
            knobs: Knobs::calm(1.0),
            beside: None,
            noted_beside: None,
        })
    }

    /// Levers called `name` that are pulled and not healed.
    pub fn pulled<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Active> {
        self.state.active.iter().filter(move |a| !a.healed && a.pull.lever == name)
    }

    /// Whether a lever called `name` is in force.
    pub fn is_pulled(&self, name: &str) -> bool {
        self.pulled(name).next().is_some()
    }

    /// Undoes the levers called one of `names`; true if there were any.
    pub fn heal(&mut self, names: &[&str]) -> bool {
        let mut any = false;
        for active in &mut self.state.active {
            if !active.healed && names.contains(&active.pull.lever.as_str()) {
                active.healed = true;
                any = true;
            }
        }
        any
    }

    /// Which classes a class or route name means; empty means all.
    pub fn classes(&self, name: &str) -> [bool; CLASSES_MAX] {
        let mut chosen = [false; CLASSES_MAX];
        for (at, class) in self.setup.classes.iter().enumerate() {
            chosen[at] = name.is_empty() || class.name == name || class.route == name;
        }
        chosen
    }

    /// Whether a group name means group number `at`; empty means all.
    pub fn is_group(&self, at: usize, name: &str) -> bool {
        name.is_empty() || self.state.groups[at].name == name
    }

    /// Requests of each class make this share of the topology's calls over outgoing edge number
    /// `edge`, 0..=1, from now on: for kinds whose state decides who is called. To be set anew by
    /// the knobs of every round, for a snapshot does not keep it.
    pub fn make_calls(&mut self, edge: usize, share: &PerClass) {
        let wanted = &self.setup.outgoing[edge].calls;
        for (calls, (wanted, share)) in
            self.spec.edges[edge].calls.iter_mut().zip(wanted.iter().zip(share))
        {
            *calls = wanted * share;
        }
    }

    /// Brings the edges' policies into the specification that the station runs on.
    pub fn follow_policies(&mut self) {
        for (edge, policy) in self.spec.edges.iter_mut().zip(&self.state.policies) {
            edge.policy = policy.clone();
        }
    }

    /// The state with the kind's own part.
    ///
    /// # Errors
    /// Where it cannot be encoded.
    pub fn snapshot<T: Serialize>(&self, own: &T) -> Result<Vec<u8>, SnapshotError> {
        encode("server", &(&self.state, &self.tier, &self.knobs, own))
    }

    /// Digest of what [`Server::snapshot`] has.
    ///
    /// # Errors
    /// As [`Server::snapshot`].
    pub fn digest<T: Serialize>(&self, own: &T) -> Result<Digest, SnapshotError> {
        machine::digest("server", &(&self.state, &self.tier, &self.knobs, own))
    }

    /// Takes a state over and returns the kind's own part.
    ///
    /// # Errors
    /// Where the bytes are not such a state.
    pub fn restore<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Result<T, SnapshotError> {
        let (state, tier, knobs, own) = decode("server", bytes)?;
        (self.state, self.tier, self.knobs) = (state, tier, knobs);
        self.noted_beside = None;
        self.follow_policies();
        Ok(own)
    }
}

fn tier_spec(setup: &Setup) -> TierSpec {
    let params = &setup.spec.params;
    let edge = |e: &model::EdgeSpec| flow::EdgeSpec {
        id: e.id,
        calls: e.calls,
        optional: false,
        policy: e.policy.clone(),
    };
    TierSpec {
        classes: setup.classes.len() as u8,
        service_s: params.number("service_time"),
        service_cv: params.number("service_cv"),
        concurrency: params.number("concurrency"),
        queue: params.number("queue"),
        edges: setup.outgoing.iter().map(edge).collect(),
        ..TierSpec::default()
    }
}
