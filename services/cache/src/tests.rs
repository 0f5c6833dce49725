//! The cache in front of a store: what each lever does, what ends it, and what orders do.

use crate::KIND;
use machine::{Instance, Moving};
use model::{
    Answer, Calls, ClassSpec, EdgeId, EdgePolicy, EdgeSpec, Grant, GroupSpec, Inbox, InstanceId,
    InstanceSpec, LeverPull, Order, Params, Query, Report, Setup, Tick,
};

const REPLICAS: u32 = 2;
/// Lookups per second.
const LOAD: f64 = 400.0;

fn class(name: &str, writes: bool) -> ClassSpec {
    ClassSpec { writes, ..ClassSpec::plain(name) }
}

fn setup(params: Params) -> Setup {
    let groups = vec![GroupSpec::plain("stable", 1, REPLICAS)];
    let params = params.check(KIND.params()).unwrap();
    let store = EdgeSpec::plain(1, Some(0), 2, "Query");
    Setup {
        outgoing: vec![EdgeSpec {
            policy: EdgePolicy { timeout_s: 0.5, ..EdgePolicy::default() },
            ..store
        }],
        callees: vec!["store".into()],
        classes: vec![class("look", false), class("buy", true)],
        ..Setup::alone(InstanceSpec { params, ..InstanceSpec::plain("cache", "cache", groups) })
    }
}

/// A cache under load, and how its store is.
struct Rig {
    cache: Instance,
    tick: i64,
    generation: u32,
    store: Report,
    load: [f64; 2],
}

impl Rig {
    fn new() -> Rig {
        let params = Params::default().with("hot_keys", 400.0).with("service_time", 0.0005);
        let cache = Instance::create(KIND, setup(params), Tick(0)).unwrap();
        let store = Report {
            ok_mean_s: 0.02,
            ok_var_s2: 1e-4,
            class_mean_s: [0.02; model::CLASSES_MAX],
            class_var_s2: [1e-4; model::CLASSES_MAX],
            ..Report::IDEAL
        };
        let mut rig = Rig { cache, tick: 0, generation: 0, store, load: [LOAD, 0.0] };
        rig.play(200);
        rig
    }

    fn play(&mut self, seconds: i64) {
        let mut calls = Calls::none(EdgeId(0));
        calls.rate[..2].copy_from_slice(&self.load);
        calls.timeout_s = 1.0;
        let generation = self.generation;
        let grant = Grant { generation, ..Grant::ample(InstanceId(0), 0, REPLICAS) };
        let inbox = Inbox {
            calls: vec![calls],
            reports: vec![self.store],
            grants: vec![grant],
            ..Inbox::default()
        };
        for _ in 0..seconds {
            self.cache.advance(Moving { tick: Tick(self.tick), round: 0, rounds: 1 }, &inbox);
            self.tick += 1;
        }
    }

    fn signal(&self, name: &str) -> f64 {
        let (from, to) = (Tick(self.tick - 1), Tick(self.tick));
        let query = Query::Metrics { signals: vec![name.into()], from, to, every: 1 };
        let Answer::Metrics { series, .. } = self.cache.read(&query) else { panic!("metrics") };
        series[name][0].unwrap()
    }

    fn hit(&self) -> f64 {
        self.cache.inspect().facts["cache_hit_ratio"]
    }

    /// Calls per second to the store.
    fn fetches(&self) -> f64 {
        self.cache.outbox().calls[0].rate.iter().sum()
    }

    fn pull(&mut self, lever: &str, args: Params) {
        let target = InstanceId(0);
        let pull = LeverPull { id: 1, target, edge: None, lever: lever.into(), args };
        self.cache.inject(Tick(self.tick), &pull).unwrap();
    }

    fn order(&mut self, verb: &str, args: Params) {
        let order = Order { target: InstanceId(0), verb: verb.into(), args };
        self.cache.operate(Tick(self.tick), &order).unwrap();
    }
}

fn none() -> Params {
    Params::default()
}

#[test]
fn only_misses_go_on_to_the_store() {
    let rig = Rig::new();
    // (1 − h)²/h = 400/(400·300): h is 0.944.
    assert!((rig.hit() - 0.944).abs() < 0.004, "{}", rig.hit());
    assert!((rig.fetches() - LOAD * (1.0 - rig.hit())).abs() < 0.5, "{}", rig.fetches());
    assert!((rig.signal("cache.hit.ratio") - rig.hit()).abs() < 0.04);
}

#[test]
fn classes_that_write_go_through() {
    let mut rig = Rig::new();
    rig.load = [0.0, 50.0];
    rig.play(5);
    assert!((rig.fetches() - 50.0).abs() < 0.5, "{}", rig.fetches());
}

#[test]
fn a_cold_cache_warms_by_fetches_that_succeed_and_by_no_others() {
    for (failing, warm) in [(0.0, true), (1.0, false)] {
        let mut rig = Rig::new();
        rig.pull("cache.cold", none());
        rig.store.failed = [failing; model::CLASSES_MAX];
        rig.play(3);
        assert!(rig.fetches() > 100.0, "{}", rig.fetches());
        rig.play(60);
        assert_eq!(rig.hit() > 0.9, warm, "failing {failing}: {}", rig.hit());
    }
}

#[test]
fn what_expires_together_comes_back_every_time_to_live_until_jitter() {
    let mut rig = Rig::new();
    let mut least = [1.0_f64; 4];
    rig.order("set_cache", none().with("ttl", 50.0));
    rig.play(50);
    rig.pull("cache.expiry_storm", none().with("ratio", 0.8));
    for (n, least) in least.iter_mut().enumerate() {
        if n == 2 {
            rig.order("set_cache", none().with("jitter", 0.5));
        }
        for _ in 0..50 {
            rig.play(1);
            *least = least.min(1.0 - rig.signal("fetches.rate") / LOAD);
        }
    }
    assert!(least[0] < 0.5 && least[1] < 0.5, "{least:?}");
    assert!(least[3] > 0.6, "{least:?}");
}

#[test]
fn one_fetch_per_key_spares_a_slow_store() {
    let fetches = |single: bool| {
        let mut rig = Rig::new();
        rig.store.ok_mean_s = 0.45;
        rig.store.class_mean_s = [0.45; model::CLASSES_MAX];
        rig.order("set_cache", none().with("single_flight", single));
        rig.play(10);
        rig.pull("cache.cold", none());
        rig.play(2);
        rig.fetches()
    };
    let (many, few) = (fetches(false), fetches(true));
    assert!(few < 0.9 * many, "{few} of {many}");
}

#[test]
fn larger_entries_are_evicted_until_there_is_room() {
    let mut rig = Rig::new();
    let calm = rig.hit();
    rig.order("set_cache", none().with("max_memory", 10.0 * 1_048_576.0));
    rig.pull("cache.big_entries", none().with("factor", 20.0));
    rig.play(600);
    assert!(rig.hit() < calm - 0.1, "{} of {calm}", rig.hit());
    assert!(rig.signal("entries.evicted.rate") > 10.0);
    rig.order("set_cache", none().with("max_memory", 600.0 * 1_048_576.0));
    rig.play(600);
    assert!(rig.hit() > calm - 0.02, "{} of {calm}", rig.hit());
    assert_eq!(rig.signal("entries.evicted.rate"), 0.0);
    let memory = rig.cache.outbox().needs[0].memory / 1_048_576.0;
    assert!(memory > 500.0, "entries are in the memory of the replicas: {memory} MiB");
}

#[test]
fn a_hot_key_holds_one_replica_and_copies_free_it() {
    let mut rig = Rig::new();
    assert!((rig.signal("replicas.busiest.ratio") - 0.5).abs() < 0.05);
    rig.pull("cache.hot_key", none().with("ratio", 0.8));
    rig.play(5);
    assert!((rig.signal("replicas.busiest.ratio") - 0.9).abs() < 0.05);
    let slots = |rig: &Rig| rig.cache.levels().get(server::keys::SLOTS, 0.0);
    assert!((slots(&rig) - 64.0 / 1.8).abs() < 0.5, "{}", slots(&rig));
    rig.order("set_cache", none().with("spread_hot_keys", true));
    rig.play(10);
    assert_eq!(slots(&rig), 64.0);
}

#[test]
fn orders_drop_load_and_lose_entries() {
    let mut rig = Rig::new();
    rig.order("flush", none());
    rig.play(2);
    assert!(rig.hit() < 0.7, "{}", rig.hit());
    rig.play(100);
    rig.load = [0.0, 0.0];
    rig.order("flush", none());
    rig.play(3);
    rig.order("warm", none().with("entries", 1000.0).with("rate", 50.0));
    rig.play(5);
    assert!((rig.fetches() - 50.0).abs() < 1e-9, "{}", rig.fetches());
    rig.play(30);
    assert!(rig.hit() > 0.7 && rig.fetches() == 0.0, "{} {}", rig.hit(), rig.fetches());
    rig.generation = 1;
    rig.play(1);
    assert!(rig.hit() < 1e-9, "a new process starts empty");
}

#[test]
fn more_replicas_find_half_of_the_keys_elsewhere() {
    let mut rig = Rig::new();
    rig.load = [0.0, 0.0];
    rig.play(1);
    let before = rig.hit();
    rig.order("scale", none().with("replicas", 4.0));
    rig.play(12);
    assert!((rig.hit() / before - 0.5).abs() < 0.05, "{} of {before}", rig.hit());
}

#[test]
fn orders_that_set_nothing_or_load_from_nowhere_are_refused() {
    let mut rig = Rig::new();
    let order = |verb: &str, args| Order { target: InstanceId(0), verb: verb.into(), args };
    let refusal = rig.cache.operate(Tick(0), &order("set_cache", none())).unwrap_err();
    assert!(refusal.reason.contains("give one of ttl, jitter"), "{refusal}");
    let mut alone = setup(none());
    (alone.outgoing, alone.callees) = (Vec::new(), Vec::new());
    let mut alone = Instance::create(KIND, alone, Tick(0)).unwrap();
    let load = order("warm", none().with("entries", 10.0));
    let refusal = alone.operate(Tick(0), &load).unwrap_err();
    assert!(refusal.reason.contains("no store behind it"), "{refusal}");
}
