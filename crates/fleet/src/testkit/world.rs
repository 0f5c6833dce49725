//! A toy world that drives any body the same way: users, exchange, orders and levers.

use futures_util::future::BoxFuture;
use machine::Moving;
use model::{
    Calls, ClassId, Digest, EdgeId, EdgePolicy, EdgeSpec, EpisodeId, GroupSpec, Hop, Inbox,
    InstanceId, InstanceSpec, LeverPull, Noise, Order, Params, Tick, Topology,
};

use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::reply::Reply;
use crate::roster::{Roster, Round};

/// Two gateways, two apps of which one calls the other, two databases of which one calls back into
/// an app: a circle of processes, and of a process with itself.
fn topology() -> Topology {
    let instance = |name: &str, kind: &str| InstanceSpec {
        name: name.into(),
        kind: kind.into(),
        params: Params::default(),
        groups: Vec::<GroupSpec>::new(),
    };
    let edge = |id: u16, from: Option<u16>, to: u16, operation: &str, timeout_s: f64| EdgeSpec {
        id: EdgeId(id),
        from: from.map(InstanceId),
        to: InstanceId(to),
        operation: operation.into(),
        policy: EdgePolicy { timeout_s, ..EdgePolicy::default() },
        calls: [1.0; model::CLASSES_MAX],
    };
    Topology {
        name: "toy".into(),
        instances: vec![
            instance("front", "gateway"),
            instance("shop", "app"),
            instance("user-db", "db"),
            instance("side", "gateway"),
            instance("stock", "app"),
            instance("order-db", "db"),
        ],
        edges: vec![
            edge(0, None, 0, "Route", 5.0),
            edge(1, Some(0), 1, "Handle", 1.0),
            edge(2, Some(1), 2, "Query", 0.08),
            edge(3, Some(1), 4, "Handle", 0.5),
            edge(4, Some(4), 5, "Write", 0.1),
            edge(5, Some(0), 3, "Route", 1.0),
            edge(6, Some(5), 3, "Route", 0.02),
        ],
        classes: Vec::new(),
        names: Vec::new(),
    }
}

/// The roster of the toy world in an episode.
pub(crate) fn roster(episode: u64, epoch: u64) -> Roster {
    let (topology, noise) = (topology(), Noise::root(7));
    let setups = topology.ids().map(|id| topology.setup(id, noise)).collect();
    Roster { episode: EpisodeId(episode), epoch, setups, start: Tick(-5) }
}

/// A request of a user.
pub(crate) fn hop(request: u64, tick: i64) -> Hop {
    Hop {
        request,
        class: ClassId(1),
        instance: InstanceId(0),
        edge: EdgeId(0),
        operation: "Route".into(),
        path: 0,
        tick: Tick(tick),
        deadline_s: 5.0,
        sampled: request.is_multiple_of(2),
    }
}

/// Deals with an error of a fleet; the world then makes the same call again.
pub(crate) trait Script<F>: Send {
    /// Before the calls of a tick.
    fn before<'a>(&'a mut self, _: &'a mut F, _: Tick) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// After a call that failed.
    fn mend<'a>(
        &'a mut self,
        _: &'a mut F,
        error: FleetError,
    ) -> BoxFuture<'a, Result<(), FleetError>> {
        Box::pin(async { Err(error) })
    }
}

impl<F> Script<F> for () {}

/// The engine of the toy world.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) tick: Tick,
    inboxes: Vec<Inbox>,
    replies: Vec<Reply>,
    topology: Topology,
    /// Digests of all instances, by tick.
    pub(crate) digests: Vec<Vec<Digest>>,
    /// What orders and levers were answered.
    pub(crate) told: Vec<String>,
}

/// Makes a call until it succeeds; `$script` mends what it can.
macro_rules! persist {
    ($fleet:ident, $script:ident, $call:expr) => {
        loop {
            match $call.await {
                Ok(answer) => break answer,
                Err(error) => $script.mend($fleet, error).await?,
            }
        }
    };
}

impl World {
    pub(crate) fn new() -> World {
        let topology = topology();
        World {
            tick: Tick(-5),
            inboxes: topology.instances.iter().map(|_| Inbox::default()).collect(),
            replies: Vec::new(),
            topology,
            digests: Vec::new(),
            told: Vec::new(),
        }
    }

    /// Creates the episode and runs `ticks` of it.
    pub(crate) async fn play<F: Fleet, S: Script<F>>(
        fleet: &mut F,
        roster: &Roster,
        ticks: i64,
        script: &mut S,
    ) -> Result<World, FleetError> {
        let mut world = World::new();
        world.inboxes.iter_mut().for_each(|inbox| *inbox = Inbox::default());
        persist!(fleet, script, fleet.create(roster));
        world.run(fleet, ticks, script).await?;
        Ok(world)
    }

    /// Runs `ticks` more.
    pub(crate) async fn run<F: Fleet, S: Script<F>>(
        &mut self,
        fleet: &mut F,
        ticks: i64,
        script: &mut S,
    ) -> Result<(), FleetError> {
        for _ in 0..ticks {
            script.before(fleet, self.tick).await;
            self.orders(fleet, script).await?;
            // Every third tick in four rounds.
            let rounds = if self.tick.0 % 3 == 0 { 4 } else { 1 };
            for round in 0..rounds {
                self.exchange();
                let at = Moving { tick: self.tick, round, rounds };
                let round = Round { at, inboxes: &self.inboxes, want_digest: at.last() };
                persist!(fleet, script, fleet.advance(&round, &mut self.replies));
            }
            let digests = self.replies.iter().map(|reply| reply.digest.expect("asked for"));
            self.digests.push(digests.collect());
            assert!(self.replies.iter().all(|reply| reply.advanced.is_some()), "the tick ended");
            self.tick = self.tick.plus(1);
        }
        Ok(())
    }

    /// Some of the calls are refused; all are answered.
    async fn orders<F: Fleet, S: Script<F>>(
        &mut self,
        fleet: &mut F,
        script: &mut S,
    ) -> Result<(), FleetError> {
        let tick = self.tick;
        let by = |by: f64| Params::default().with("by", by);
        if tick.0 % 4 == 1 {
            let (verb, target) = ("boost".to_string(), InstanceId((tick.0 % 6) as u16));
            let order = Order { target, verb, args: by(tick.0 as f64 * 2.0) };
            let told = persist!(fleet, script, fleet.operate(tick, &order));
            self.told.push(format!("{told:?}"));
        }
        if tick.0 % 6 == 2 {
            let (lever, target) = ("toy.slow".to_string(), InstanceId(2));
            let pull = LeverPull { id: 9, target, edge: None, lever, args: by(0.02) };
            let told = persist!(fleet, script, fleet.inject(tick, &pull));
            self.told.push(format!("{told:?}"));
        }
        if tick.0 % 6 == 5 {
            let told = persist!(fleet, script, fleet.clear(tick, InstanceId(2), 9));
            self.told.push(format!("{told:?}"));
        }
        Ok(())
    }

    /// The users' demand, and a permutation of what was said in the previous round.
    fn exchange(&mut self) {
        for (at, inbox) in self.inboxes.iter_mut().enumerate() {
            (inbox.calls, inbox.reports) = (Vec::new(), Vec::new());
            for edge in &self.topology.edges {
                if edge.to.at() == at {
                    inbox.calls.push(match edge.from {
                        None => demand(edge.id, self.tick),
                        Some(from) => said(&self.replies, from, edge.id),
                    });
                }
                if edge.from.is_some_and(|from| from.at() == at) {
                    inbox.reports.extend(self.replies.get(edge.to.at()).map(|r| r.outbox.report));
                }
            }
        }
    }
}

fn demand(edge: EdgeId, tick: Tick) -> Calls {
    let mut calls = Calls::none(edge);
    calls.rate[1] = 20.0 + (tick.0 % 7) as f64;
    calls
}

fn said(replies: &[Reply], from: InstanceId, edge: EdgeId) -> Calls {
    let calls = replies.get(from.at()).map_or(&[][..], |reply| &reply.outbox.calls);
    calls.iter().find(|calls| calls.edge == edge).copied().unwrap_or(Calls::none(edge))
}
