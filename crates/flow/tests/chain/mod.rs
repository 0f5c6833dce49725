//! A small driver for tests: a graph of tiers under users, played tick by tick with the
//! engine's rule for sub-steps. Everything a round reads is a value of the round before.

#![allow(dead_code, reason = "each test binary uses a part")]

use flow::{EdgeSpec, Knobs, Outcome, TierSpec, TierState, UsersEdge, UsersSpec, sharpen};
use model::{CLASSES_MAX, Calls, EdgeId, EdgePolicy, Motion, PerClass, Report};

/// One component of a [`World`].
pub(crate) struct Node {
    pub(crate) name: &'static str,
    pub(crate) spec: TierSpec,
    pub(crate) knobs: Knobs,
    pub(crate) state: TierState,
    /// Callee of each edge, by position in the world.
    pub(crate) callees: Vec<usize>,
}

/// Users of one entry.
pub(crate) struct Crowd {
    pub(crate) entry: usize,
    pub(crate) users: UsersEdge,
    pub(crate) demand: PerClass,
    /// Share of the demand that the gateway lets in.
    pub(crate) admit: f64,
}

type Change = Box<dyn Fn(&mut World)>;

/// What one tick brought.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) tick: usize,
    pub(crate) rounds: usize,
    /// Share of all users, shed ones included, that end well.
    pub(crate) success: f64,
    /// The same within their objective, by class.
    pub(crate) good: PerClass,
    pub(crate) outcome: Outcome,
    /// By node: arrived, served, refused per second (means of the tick) and queue at its end.
    pub(crate) flows: Vec<[f64; 4]>,
}

/// A graph of tiers, its users, and a schedule.
pub(crate) struct World {
    pub(crate) nodes: Vec<Node>,
    pub(crate) crowds: Vec<Crowd>,
    changes: Vec<(usize, Change)>,
    /// Calls in flight between rounds, by edge id.
    wires: Vec<Calls>,
    /// (caller, position among its edges) by edge id; users' edges have none.
    ends: Vec<usize>,
    motion: Vec<[Motion; 2]>,
    moving: usize,
    pub(crate) tick: usize,
    /// Forces a number of rounds per tick.
    pub(crate) rounds: Option<usize>,
    /// Ticks that still count as an onset.
    onset: usize,
    pub(crate) rows: Vec<Row>,
}

impl World {
    pub(crate) fn new() -> World {
        World {
            nodes: Vec::new(),
            crowds: Vec::new(),
            changes: Vec::new(),
            wires: Vec::new(),
            ends: Vec::new(),
            motion: Vec::new(),
            moving: 0,
            tick: 0,
            rounds: None,
            onset: 0,
            rows: Vec::new(),
        }
    }

    /// Adds a component with `replicas` healthy replicas.
    pub(crate) fn node(&mut self, name: &'static str, replicas: f64, spec: TierSpec) -> usize {
        let (state, knobs) = (TierState::new(&spec), Knobs::calm(replicas));
        self.nodes.push(Node { name, spec, knobs, state, callees: Vec::new() });
        self.nodes.len() - 1
    }

    fn wire(&mut self, to: usize) -> EdgeId {
        let id = EdgeId(self.wires.len() as u16);
        self.wires.push(Calls::none(id));
        self.ends.push(to);
        id
    }

    /// Adds an edge; dependencies of a node are called in the order of their adding.
    pub(crate) fn edge(&mut self, from: usize, to: usize, calls: PerClass, policy: EdgePolicy) {
        let id = self.wire(to);
        let node = &mut self.nodes[from];
        node.spec.edges.push(EdgeSpec { id, calls, optional: false, policy });
        node.state = TierState::new(&node.spec);
        node.callees.push(to);
    }

    /// Adds users of `entry`.
    pub(crate) fn users(&mut self, entry: usize, demand: PerClass, mut spec: UsersSpec) {
        spec.id = self.wire(entry);
        let users = UsersEdge::new(spec);
        self.crowds.push(Crowd { entry, users, demand, admit: 1.0 });
    }

    /// Something that happens at the start of a tick.
    pub(crate) fn at(&mut self, tick: usize, change: impl Fn(&mut World) + 'static) {
        self.changes.push((tick, Box::new(change)));
    }

    fn apply(&mut self) -> bool {
        let changes = std::mem::take(&mut self.changes);
        let mut any = false;
        for (tick, change) in &changes {
            if *tick == self.tick {
                change(self);
                any = true;
            }
        }
        self.changes = changes;
        any
    }

    /// Did some edge move between the two last ticks?
    fn moved(&self) -> bool {
        self.motion.iter().any(|[old, new]| {
            (old.failure - new.failure).abs() > 0.05
                || (old.lateness - new.lateness).abs() > 0.1
                || (old.load - new.load).abs() > 0.3
        })
    }

    /// One tick.
    pub(crate) fn step(&mut self) -> &Row {
        let n = self.nodes.len();
        self.motion.resize(n + self.crowds.len(), [Motion::default(); 2]);
        if self.apply() {
            self.onset = 4;
        }
        if self.tick > 1 && self.moved() {
            self.moving = 4;
        }
        // As the engine of episodes does.
        let rounds = self.rounds.unwrap_or(match (self.onset, self.moving) {
            (1.., _) => 16,
            (0, 1..) => 4,
            (0, 0) => 1,
        });
        self.onset = self.onset.saturating_sub(1);
        self.moving = self.moving.saturating_sub(1);
        let dt = 1.0 / rounds as f64;
        let mut row = Row {
            tick: self.tick,
            rounds,
            success: 0.0,
            good: [0.0; CLASSES_MAX],
            outcome: Outcome::default(),
            flows: vec![[0.0; 4]; n],
        };
        for _ in 0..rounds {
            self.round(dt, &mut row);
        }
        self.tick += 1;
        self.rows.push(row);
        self.rows.last().expect("just pushed")
    }

    fn round(&mut self, dt: f64, row: &mut Row) {
        let reports: Vec<Report> = self.nodes.iter().map(|n| n.state.core.report).collect();
        for crowd in &self.crowds {
            let calls = crowd.users.offer(&admitted(crowd), &reports[crowd.entry]);
            self.wires[calls.edge.at()] = calls;
        }
        let wires = self.wires.clone();
        for (i, node) in self.nodes.iter_mut().enumerate() {
            let inbox: Vec<Calls> = wires
                .iter()
                .zip(&self.ends)
                .filter(|(_, to)| **to == i)
                .map(|(calls, _)| *calls)
                .collect();
            let below: Vec<Report> = node.callees.iter().map(|k| reports[*k]).collect();
            let round = node.state.round(&node.spec, &node.knobs, &inbox, &below, dt);
            for calls in &round.calls {
                self.wires[calls.edge.at()] = *calls;
            }
            let flow = &mut row.flows[i];
            flow[0] += round.arrived * dt;
            flow[1] += round.served * dt;
            flow[2] += round.refused * dt;
            flow[3] = round.queue;
            if self.motion.len() > i {
                let m = &mut self.motion[i];
                *m = [m[1], round.motion];
            }
        }
        self.judge(&reports, dt, row);
    }

    fn judge(&mut self, before: &[Report], dt: f64, row: &mut Row) {
        let (mut ok, mut all) = (0.0, 0.0);
        for (k, crowd) in self.crowds.iter().enumerate() {
            let report = &self.nodes[crowd.entry].state.core.report;
            let felt = sharpen(&before[crowd.entry], report);
            let out = crowd.users.judge(&admitted(crowd), &felt);
            let demand: f64 = crowd.demand.iter().sum();
            ok += out.success * demand * crowd.admit;
            all += demand;
            for c in 0..CLASSES_MAX {
                row.good[c] += out.good[c] * dt;
            }
            let now = Motion { failure: out.failure, lateness: out.lateness, load: 0.0 };
            let m = &mut self.motion[self.nodes.len() + k];
            *m = [m[1], now];
            row.outcome = out;
        }
        row.success += ok / all.max(1e-12) * dt;
    }

    /// Plays up to tick `until`.
    pub(crate) fn play(&mut self, until: usize) -> &mut World {
        while self.tick < until {
            self.step();
        }
        self
    }

    /// Mean success over ticks.
    pub(crate) fn success(&self, ticks: std::ops::Range<usize>) -> f64 {
        let n = ticks.len() as f64;
        self.rows[ticks].iter().map(|r| r.success).sum::<f64>() / n
    }

    /// The node called `name`.
    pub(crate) fn find(&mut self, name: &str) -> &mut Node {
        self.nodes.iter_mut().find(|n| n.name == name).expect("a node of that name")
    }
}

fn admitted(crowd: &Crowd) -> PerClass {
    crowd.demand.map(|d| d * crowd.admit)
}

/// `x` for the first class, nothing for the others.
pub(crate) fn one(x: f64) -> PerClass {
    let mut out = [0.0; CLASSES_MAX];
    out[0] = x;
    out
}

/// The chain gateway(2) → orders(4) → db(16 workers) with `slots` per caller and `places` in
/// the database's queue, at utilization `u` of the database.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) u: f64,
    pub(crate) slots: f64,
    pub(crate) places: f64,
    pub(crate) policy: EdgePolicy,
}

impl Chain {
    pub(crate) fn new(u: f64, slots: f64, places: f64, backoff_s: f64) -> Chain {
        let policy = EdgePolicy { timeout_s: 0.25, retries: 3, backoff_s, ..EdgePolicy::default() };
        Chain { u, slots, places, policy }
    }

    pub(crate) fn build(&self) -> World {
        let mut w = World::new();
        let tier = |service_s, concurrency, queue| TierSpec {
            service_s,
            concurrency,
            queue,
            ..TierSpec::default()
        };
        let gw = w.node("gw", 2.0, tier(0.002, self.slots, 4.0 * self.slots));
        let ord = w.node("ord", 4.0, tier(0.005, self.slots, 4.0 * self.slots));
        let db = w.node("db", 1.0, tier(0.008, 16.0, self.places));
        w.edge(gw, ord, [1.0; CLASSES_MAX], self.policy.clone());
        w.edge(ord, db, [1.0; CLASSES_MAX], self.policy.clone());
        let users = UsersSpec { patience_s: 1e12, ..UsersSpec::default() };
        w.users(gw, one(self.u * 2000.0), users);
        w
    }

    /// With the dip: the database at 40 % from 60 to 80.
    pub(crate) fn dipped(&self) -> World {
        let mut w = self.build();
        w.at(60, |w| w.find("db").knobs.groups[0].slow = 2.5);
        w.at(80, |w| w.find("db").knobs.groups[0].slow = 1.0);
        w
    }
}

fn tier(classes: u8, service_s: f64, concurrency: f64, queue: f64) -> TierSpec {
    TierSpec { classes, service_s, concurrency, queue, ..TierSpec::default() }
}

fn policy(timeout_s: f64, retries: u32) -> EdgePolicy {
    EdgePolicy { timeout_s, retries, ..EdgePolicy::default() }
}

/// gateway → auth, then payment; both → db. Two classes: browse skips payment.
pub(crate) fn shop() -> World {
    let mut w = World::new();
    let gw = w.node("gw", 2.0, tier(2, 0.002, 128.0, 512.0));
    let auth = w.node("auth", 2.0, tier(2, 0.003, 64.0, 256.0));
    let pay = w.node("pay", 2.0, tier(2, 0.01, 64.0, 256.0));
    let db = w.node("db", 1.0, tier(2, 0.004, 16.0, 200.0));
    let mut checkout = [0.0; CLASSES_MAX];
    checkout[1] = 1.0;
    w.edge(gw, auth, [1.0; CLASSES_MAX], policy(0.25, 1));
    w.edge(gw, pay, checkout, policy(1.0, 1));
    w.edge(auth, db, [0.5; CLASSES_MAX], policy(0.25, 1));
    let mut twice = [0.0; CLASSES_MAX];
    twice[1] = 2.0;
    w.edge(pay, db, twice, policy(0.25, 1));
    let mut demand = one(1000.0);
    demand[1] = 200.0;
    w.users(gw, demand, UsersSpec { classes: 2, patience_s: 3.0, ..UsersSpec::default() });
    w
}
