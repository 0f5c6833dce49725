//! Health checks of a balancer in front of an app that calls nobody, driven as every body drives
//! it.

use app::KIND;
use machine::{Instance, Moving};
use model::{
    Answer, Calls, ClassSpec, EdgeId, Grant, GroupSpec, Inbox, InstanceId, InstanceSpec, LeverPull,
    Noise, Order, Params, Query, Setup, Severity, Tick,
};
use server::keys;
use server::signals::{FAILED, OFFERED, REFUSED};

/// Requests per second that a replica can serve, with one slot and 10 ms of work.
const RATE: f64 = 100.0;

fn class() -> ClassSpec {
    ClassSpec {
        name: "read".into(),
        route: "read".into(),
        cohort: String::new(),
        weight: 1.0,
        objective_s: 1.0,
        patience_s: 4.0,
        retries: 0,
        backoff_s: 0.0,
        entry: EdgeId(0),
        writes: false,
    }
}

/// An app of two groups, six replicas and two, under a constant load.
struct Bench {
    app: Instance,
    tick: i64,
    load: f64,
    rounds: u32,
    generation: u32,
}

impl Bench {
    /// `load`: share of the capacity of all replicas.
    fn new(params: Params, load: f64) -> Bench {
        let group = |name: &str, replicas| GroupSpec {
            name: name.into(),
            version: "v7".into(),
            host: InstanceId(1),
            replicas,
        };
        let params = params.with("concurrency", 1.0).with("service_time", 0.01).with("queue", 40.0);
        let setup = Setup {
            id: InstanceId(0),
            spec: InstanceSpec {
                name: "shop".into(),
                kind: "app".into(),
                params: params.check(KIND.params()).expect("parameters"),
                groups: vec![group("stable", 6), group("canary", 2)],
            },
            incoming: vec![EdgeId(0)],
            outgoing: Vec::new(),
            callees: Vec::new(),
            classes: vec![class()],
            hostnames: Vec::new(),
            names: Vec::new(),
            tenants: Vec::new(),
            noise: Noise::root(1),
        };
        let app = Instance::create(KIND, setup, Tick(0)).expect("an app");
        Bench { app, tick: 0, load: load * 8.0 * RATE, rounds: 1, generation: 0 }
    }

    fn play(&mut self, ticks: i64) {
        let mut calls = Calls::none(EdgeId(0));
        (calls.rate[0], calls.timeout_s) = (self.load, 4.0);
        let grant = |group, replicas| Grant {
            generation: self.generation,
            ..Grant::ample(InstanceId(0), group, replicas)
        };
        let grants = vec![grant(0, 6), grant(1, 2)];
        let inbox = Inbox { calls: vec![calls], grants, ..Inbox::default() };
        for _ in 0..ticks {
            for round in 0..self.rounds {
                let at = Moving { tick: Tick(self.tick), round, rounds: self.rounds };
                self.app.advance(at, &inbox);
            }
            self.tick += 1;
        }
    }

    fn pull(&mut self, lever: &str, args: Params) {
        let pull =
            LeverPull { id: 1, target: InstanceId(0), edge: None, lever: lever.into(), args };
        self.app.inject(Tick(self.tick), &pull).expect("a lever");
    }

    fn tighten(&mut self, timeout_s: f64) {
        let args = Params::default().with("timeout", timeout_s).with("failures", 1.0);
        self.pull("server.probes", args);
    }

    fn order(&mut self, verb: &str, args: Params) -> Result<String, String> {
        let order = Order { target: InstanceId(0), verb: verb.into(), args };
        self.app.operate(Tick(self.tick), &order).map_err(|refusal| refusal.to_string())
    }

    fn level(&self, key: u16) -> f64 {
        self.app.levels().get(key, 0.0)
    }

    fn unhealthy(&self) -> f64 {
        self.level(keys::UNHEALTHY) + self.level(keys::UNHEALTHY + 1)
    }

    fn running(&self) -> f64 {
        self.level(keys::RUNNING) + self.level(keys::RUNNING + 1)
    }

    /// Replicas that take requests, tick by tick.
    fn watch(&mut self, ticks: i64) -> Vec<f64> {
        let (from, mut levels) = (self.tick, self.app.levels());
        self.play(ticks);
        let changes = self.app.history().changes();
        let mut ahead = changes.iter().skip_while(|c| c.tick.0 < from).peekable();
        let at = |tick| {
            while let Some(change) = ahead.next_if(|c| c.tick.0 <= tick) {
                levels.apply(change);
            }
            levels.get(keys::RUNNING, 0.0) + levels.get(keys::RUNNING + 1, 0.0)
        };
        (from..self.tick).map(at).collect()
    }

    fn changes(&self, key: u16) -> Vec<(i64, f64)> {
        let all = self.app.history().changes().iter().filter(|c| c.key == key);
        all.map(|c| (c.tick.0, c.value)).collect()
    }

    fn refused(&self) -> f64 {
        self.app.outbox().row[REFUSED]
    }

    fn facts(&self, query: &Query) -> String {
        match self.app.read(query) {
            Answer::Facts(facts) => format!("{facts:?}"),
            other => panic!("{other:?}"),
        }
    }
}

fn checked() -> Params {
    Params::default().with("probe_timeout", 1.0)
}

#[test]
fn a_check_with_room_changes_nothing_and_without_one_there_is_nothing_to_set() {
    let mut without = Bench::new(Params::default(), 0.7);
    let mut with = Bench::new(checked(), 0.7);
    for tick in 0..300 {
        without.play(1);
        with.play(1);
        assert_eq!(without.app.outbox(), with.app.outbox(), "{tick}");
    }
    assert_eq!((with.unhealthy(), with.running()), (0.0, 8.0));
    let floor = || Params::default().with("floor", 0.5);
    let refusal = without.order("set_health_check", floor()).unwrap_err();
    assert!(refusal.contains("no health check"), "{refusal}");
    let refusal = with.order("set_health_check", Params::default()).unwrap_err();
    assert!(refusal.contains("nothing to set; give one of timeout"), "{refusal}");
    assert!(!without.facts(&Query::Config).contains("health check"));
    let config = with.facts(&Query::Config);
    assert!(config.contains("every 5 s, time-out 1 s, out of rotation after 3 failed"), "{config}");
}

#[test]
fn idle_replicas_are_out_as_often_as_the_law_of_runs_says() {
    // Own work alone, exponential: a probe takes longer than its time-out with this chance.
    let fails = flow::latency::timeout_prob(0.01, 0.0001, 0.015);
    let run = |p: f64, all: f64| (1.0 - all) / ((1.0 - p) * all);
    let passes = 1.0 - fails;
    let stays_in = run(fails, fails * fails);
    let stays_out = run(passes, passes * passes * passes);
    let params = Params::default()
        .with("probe_timeout", 0.015)
        .with("probe_period", 2.0)
        .with("probe_failures", 2.0)
        .with("probe_passes", 3.0);
    let mut bench = Bench::new(params, 0.001);
    let seen = bench.watch(20_000);
    let out = 1.0 - seen.iter().sum::<f64>() / (8.0 * seen.len() as f64);
    let expected = stays_out / (stays_in + stays_out);
    assert!((out / expected - 1.0).abs() < 0.05, "{out} is not {expected}");
}

#[test]
fn tight_probes_under_load_make_capacity_come_and_go() {
    let mut bench = Bench::new(checked(), 0.75);
    bench.play(60);
    bench.tighten(0.02);
    let seen = bench.watch(300);
    let (least, most) = seen.iter().fold((8.0_f64, 0.0_f64), |(l, m), n| (l.min(*n), m.max(*n)));
    assert!(least <= 2.0 && most >= 6.0, "{least} to {most}");
    // Every replica has gone and come back, and all the while its process ran.
    for key in [keys::REMOVED, keys::RETURNED] {
        let mut which: Vec<_> = bench.changes(key).iter().map(|(_, which)| *which as u32).collect();
        which.sort_unstable();
        which.dedup();
        assert_eq!(which.len(), 8, "{which:?}");
    }
    // What callers see is what those in rotation can serve, and not a mean of better times.
    let (mut served, mut possible) = (0.0, 0.0);
    for _ in 0..200 {
        bench.play(1);
        let row = bench.app.outbox().row;
        served += row[OFFERED] * (1.0 - row[FAILED]);
        possible += bench.load.min(bench.running() * RATE);
    }
    let asked = 200.0 * bench.load;
    assert!(possible < 0.8 * asked, "{possible} of {asked}");
    assert!((0.85..1.02).contains(&(served / possible)), "{served} of {possible}");
}

#[test]
fn what_relaxes_the_check_or_pins_the_capacity_ends_it() {
    let set = |name: &str, value: f64| ("set_health_check", Params::default().with(name, value));
    // Orders, and the replicas that take requests half a minute after they took effect.
    for (orders, running) in [
        (vec![set("timeout", 1.0)], 8.0),
        (vec![set("floor", 1.0)], 8.0),
        (vec![("rollback", Params::default())], 8.0),
        (vec![set("timeout", 0.001)], 0.0),
        (vec![set("timeout", 0.001), set("floor", 0.1)], 8.0),
        (vec![set("timeout", 0.001), set("timeout", 1.0)], 8.0),
    ] {
        let mut bench = Bench::new(checked(), 0.75);
        bench.tighten(0.02);
        bench.play(120);
        for (verb, args) in &orders {
            bench.order(verb, args.clone()).expect("accepted");
            bench.play(100);
        }
        assert_eq!(bench.running(), running, "{orders:?}");
        assert_eq!(bench.refused() > 0.9, running == 0.0, "{orders:?}");
    }
}

#[test]
fn letting_go_of_the_lever_brings_the_check_before_it_back() {
    let mut bench = Bench::new(checked(), 0.75);
    bench.tighten(0.001);
    bench.play(60);
    assert_eq!((bench.running(), bench.unhealthy()), (0.0, 8.0));
    bench.app.clear(Tick(bench.tick), 1).expect("in force");
    bench.play(20);
    assert_eq!((bench.running(), bench.unhealthy()), (8.0, 0.0));
}

#[test]
fn new_processes_are_in_rotation_until_probes_find_them() {
    let mut bench = Bench::new(checked(), 0.75);
    bench.tighten(0.001);
    bench.play(60);
    bench.generation += 1;
    bench.play(1);
    // All but those whose turn it was in the first tick.
    assert!(bench.running() >= 4.0, "{}", bench.running());
    bench.play(30);
    assert_eq!(bench.running(), 0.0);
}

#[test]
fn a_slow_group_goes_and_the_others_stay() {
    let params = Params::default().with("probe_timeout", 0.2).with("service_cv", 0.5);
    let mut bench = Bench::new(params, 0.3);
    bench.pull("server.slow", Params::default().with("factor", 100.0).with("group", "canary"));
    bench.play(120);
    assert_eq!((bench.level(keys::UNHEALTHY), bench.level(keys::UNHEALTHY + 1)), (0.0, 2.0));
    assert_eq!((bench.running(), bench.refused()), (6.0, 0.0));
}

#[test]
fn probes_belong_to_the_tick_and_not_to_its_rounds() {
    let events = |rounds: u32| {
        // Hardly any load, so that the outcome of a probe does not depend on how rounds went.
        let params = Params::default().with("probe_timeout", 0.015).with("probe_failures", 1.0);
        let mut bench = Bench::new(params, 0.001);
        bench.rounds = rounds;
        bench.play(400);
        (bench.changes(keys::REMOVED), bench.changes(keys::RETURNED))
    };
    let (removed, returned) = events(1);
    assert!(removed.len() > 20 && returned.len() > 20);
    assert_eq!(events(4), (removed, returned));
}

#[test]
fn status_and_logs_say_which_replicas_are_out() {
    let mut bench = Bench::new(checked(), 0.75);
    bench.tighten(0.001);
    bench.play(40);
    let status = bench.facts(&Query::Status);
    assert!(status.contains("6 of 6 replicas running, v7, 6 out of rotation"), "{status}");
    let query = |severity| Query::Logs {
        from: Tick(0),
        to: Tick(40),
        severity,
        contains: "rotation".into(),
        limit: 100,
    };
    let Answer::Logs(lines) = bench.app.read(&query(Severity::Warn)) else { panic!("logs") };
    let mut replicas: Vec<_> = lines.iter().map(|line| line.replica.as_str()).collect();
    replicas.sort_unstable();
    let expected = [
        "shop-canary-0",
        "shop-canary-1",
        "shop-stable-0",
        "shop-stable-1",
        "shop-stable-2",
        "shop-stable-3",
        "shop-stable-4",
        "shop-stable-5",
    ];
    assert_eq!(replicas, expected);
    let first = &lines[0].message;
    assert_eq!(first, "removed from rotation: health check timed out, no answer in 1 ms");
    bench.order("set_health_check", Params::default().with("timeout", 1.0)).expect("accepted");
    bench.play(40);
    let status = bench.facts(&Query::Status);
    assert!(!status.contains("rotation"), "{status}");
    let query = Query::Logs {
        from: Tick(40),
        to: Tick(80),
        severity: Severity::Info,
        contains: "back in rotation".into(),
        limit: 100,
    };
    let Answer::Logs(lines) = bench.app.read(&query) else { panic!("logs") };
    assert_eq!(lines.len(), 8);
}
