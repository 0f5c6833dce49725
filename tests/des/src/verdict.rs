//! The test bed of the verdict table: a gateway, an order service and a database that loses part
//! of its capacity for a while. It says what the system is, not how it fares.

use crate::config::{Class, Config, Edge, Group, Tier, Users};
use crate::schedule::Schedule;

/// The database at a part of its capacity for a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dip {
    /// Begin, s.
    pub from: f64,
    /// End, s.
    pub until: f64,
    /// φ meanwhile.
    pub speed: f64,
}

/// The knobs of the chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chain {
    /// Offered load as a share of the database's capacity of 2000/s.
    pub load: f64,
    /// Slots of each of the two gateways and four order services.
    pub slots: u32,
    /// Places of the database's queue.
    pub queue: u32,
    /// Retries on both inner edges.
    pub retries: u32,
    /// Time-out of an attempt on both inner edges, s.
    pub timeout: f64,
    /// Mean pause before a retry, s, uniform between 0 and twice that.
    pub backoff: f64,
    /// The trigger.
    pub dip: Dip,
    /// Length of the run, s.
    pub end: f64,
    /// Seed of the run.
    pub seed: u64,
}

impl Default for Chain {
    /// u = 0.69, 64 slots, 64 places, three retries at once after 250 ms, 40 % in t = 60–80.
    fn default() -> Self {
        Self {
            load: 0.69,
            slots: 64,
            queue: 64,
            retries: 3,
            timeout: 0.25,
            backoff: 0.0,
            dip: Dip { from: 60.0, until: 80.0, speed: 0.4 },
            end: 120.0,
            seed: 1,
        }
    }
}

/// gw (2 replicas, 2 ms) → ord (4, 5 ms) → db (16 workers, 8 ms), all work exponential. The
/// callers' queues have four places per slot; users are patient and do not retry.
pub fn verdict_chain(chain: &Chain) -> Config {
    let edge = |to| Edge {
        to,
        timeout: chain.timeout.into(),
        retries: f64::from(chain.retries).into(),
        backoff: chain.backoff.into(),
        ..Edge::default()
    };
    let tier = |name: &str, replicas: u32, slots: u32, queue: u32, work: f64| Tier {
        name: name.to_owned(),
        groups: vec![Group { replicas: f64::from(replicas).into(), ..Group::default() }],
        slots,
        queue,
        work,
        ..Tier::default()
    };
    let mut gateway = tier("gw", 2, chain.slots, 8 * chain.slots, 0.002);
    gateway.edges = vec![edge(1)];
    let mut order = tier("ord", 4, chain.slots, 16 * chain.slots, 0.005);
    order.edges = vec![edge(2)];
    let mut database = tier("db", 1, 16, chain.queue, 0.008);
    database.speed = Schedule::during(1.0, chain.dip.from, chain.dip.until, chain.dip.speed);
    let users = Class {
        name: "users".to_owned(),
        users: Users::Open { rate: (chain.load * 2000.0).into() },
        ..Class::default()
    };
    Config {
        seed: chain.seed,
        end: chain.end,
        tiers: vec![gateway, order, database],
        classes: vec![users],
        ..Config::default()
    }
}
