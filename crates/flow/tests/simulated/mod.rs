//! The same systems in the flow plane and request by request: random graphs with fan-out, fan-in
//! and two classes, and a sick replica behind every kind of balancer.

use crate::chain::{World, one};
use des::Rng;
use flow::{Balance, GroupKnobs, TierSpec, UsersSpec};
use model::{CLASSES_MAX, EdgePolicy, PerClass};

/// A system in both worlds.
struct Pair {
    flow: World,
    des: des::Config,
}

fn open(rate: f64) -> des::Class {
    des::Class { users: des::Users::Open { rate: rate.into() }, ..des::Class::default() }
}

/// Caller, callee, calls per request of the two classes.
type Arrow = (usize, usize, [f64; 2]);

/// A graph on `n` tiers in which every tier but the first has a caller.
fn arrows(r: &mut Rng, n: usize) -> Vec<Arrow> {
    let mut out: Vec<Arrow> = Vec::new();
    for j in 1..n {
        let from = r.below(j as u32) as usize;
        let calls = [if r.chance(0.3) { 0.5 } else { 1.0 }, if r.chance(0.2) { 2.0 } else { 1.0 }];
        out.push((from, j, calls));
    }
    let from = r.below(n as u32 - 1) as usize;
    if n > 2 && r.chance(0.5) && !out.iter().any(|a| (a.0, a.1) == (from, n - 1)) {
        out.push((from, n - 1, [1.0, 0.5]));
    }
    out.sort_by_key(|a| (a.0, a.1));
    out
}

/// Requests per second and class at every tier, nothing failing.
fn loads(arrows: &[Arrow], n: usize, demand: [f64; 2]) -> Vec<[f64; 2]> {
    let mut load = vec![[0.0; 2]; n];
    load[0] = demand;
    for &(i, j, calls) in arrows {
        for c in 0..2 {
            load[j][c] += load[i][c] * calls[c];
        }
    }
    load
}

/// A random system; one tier is at 50–120 % of its capacity.
fn random(case: u64) -> Pair {
    let r = &mut Rng::new(99, case);
    let n = 2 + r.below(4) as usize;
    let rate = 100.0 + 900.0 * r.uniform();
    let share = if r.chance(0.5) { 0.0 } else { 0.1 + 0.4 * r.uniform() };
    let arrows = arrows(r, n);
    let demand = [rate * (1.0 - share), rate * share];
    let load = loads(&arrows, n, demand);
    let hot = r.below(n as u32) as usize;
    let mut flow = World::new();
    let mut des = des::Config { end: 90.0, seed: case, ..des::Config::default() };
    for (i, l) in load.iter().enumerate() {
        let work = 0.002 + 0.018 * r.uniform();
        let u = if i == hot { 0.5 + 0.7 * r.uniform() } else { 0.1 + 0.4 * r.uniform() };
        let mut slots = ((l[0] + l[1]) * work / u).ceil().max(1.0);
        if arrows.iter().any(|a| a.0 == i) {
            slots = (slots * (2.0 + 10.0 * r.uniform())).ceil();
        }
        let queue = (slots * 8.0 * r.uniform()).floor() + 2.0;
        let error = if r.chance(0.3) { 0.2 * r.uniform() } else { 0.0 };
        let base = TierSpec { classes: 2, ..TierSpec::default() };
        let spec = TierSpec { service_s: work, concurrency: slots, queue, ..base };
        let at = flow.node("tier", 1.0, spec);
        flow.nodes[at].knobs.error = [error; CLASSES_MAX];
        des.tiers.push(des::Tier {
            slots: slots as u32,
            queue: queue as u32,
            work,
            errors: vec![error.into(), error.into()],
            ..des::Tier::default()
        });
    }
    for (from, to, calls) in arrows {
        let policy = EdgePolicy {
            timeout_s: 0.1 + 0.9 * r.uniform(),
            retries: r.below(4),
            backoff_s: if r.chance(0.5) { 0.05 } else { 0.0 },
            ..EdgePolicy::default()
        };
        des.tiers[from].edges.push(des::Edge {
            to,
            calls: calls.to_vec(),
            timeout: policy.timeout_s.into(),
            retries: f64::from(policy.retries).into(),
            backoff: policy.backoff_s.into(),
            ..des::Edge::default()
        });
        flow.edge(from, to, two(calls), policy);
    }
    des.classes = demand.map(open).to_vec();
    let users = UsersSpec { classes: 2, patience_s: 1e12, ..UsersSpec::default() };
    flow.users(0, two(demand), users);
    Pair { flow, des }
}

fn two(x: [f64; 2]) -> PerClass {
    let mut out = [0.0; CLASSES_MAX];
    (out[0], out[1]) = (x[0], x[1]);
    out
}

/// Success share in both worlds, and the throughput of the last tier.
fn compare(pair: &mut Pair) -> ([f64; 2], [f64; 2]) {
    let end = pair.des.end;
    let seen = des::run(&pair.des).window(30.0, end);
    let good: u64 = seen.classes.iter().map(|c| c.good).sum();
    let all: u64 = seen.classes.iter().map(|c| c.offered).sum();
    pair.flow.play(160);
    let last = pair.flow.nodes.len() - 1;
    let served = seen.tiers[last].served as f64 / (end - 30.0);
    let success = [pair.flow.success(120..160), good as f64 / all.max(1) as f64];
    (success, [pair.flow.rows[159].flows[last][1], served])
}

#[test]
fn random_graphs_are_within_the_bands() {
    let (mut success, mut through) = (Vec::new(), Vec::new());
    for case in 0..60 {
        let ([flow, des], [served, truth]) = compare(&mut random(case));
        success.push((flow - des).abs());
        through.push((served / truth.max(1.0) - 1.0).abs());
    }
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (x, t) = (mean(&success), mean(&through));
    success.sort_by(f64::total_cmp);
    assert!(x < 0.01, "mean error of success {x}");
    assert!(success[54] < 0.035, "at 90 %: {}", success[54]);
    assert!(success[59] < 0.1, "worst: {}", success[59]);
    assert!(t < 0.01, "mean error of throughput {t}");
}

/// Four replicas of 16 slots, one of them slow, at utilization `u` of healthy ones.
fn sick(balance: (Balance, des::Balance), u: f64, slow: f64, error: f64) -> Pair {
    let rate = u * 64.0 / 0.01;
    let mut flow = World::new();
    let tier = |service_s, concurrency, queue| TierSpec {
        service_s,
        concurrency,
        queue,
        balance: balance.0,
        ..TierSpec::default()
    };
    let gw = flow.node("gw", 1.0, tier(0.001, 1000.0, 1000.0));
    let app = flow.node("app", 3.0, tier(0.01, 16.0, 32.0));
    flow.nodes[app].knobs.groups[1] = GroupKnobs { running: 1.0, slow, error };
    let policy = EdgePolicy { timeout_s: 0.25, retries: 1, ..EdgePolicy::default() };
    flow.edge(gw, app, [1.0; CLASSES_MAX], policy);
    flow.users(gw, one(rate), UsersSpec { patience_s: 1e12, ..UsersSpec::default() });
    let group = |replicas: f64, slow: f64, error: f64| des::Group {
        replicas: replicas.into(),
        slow: slow.into(),
        error: error.into(),
    };
    let edge =
        des::Edge { to: 1, timeout: 0.25.into(), retries: 1.0.into(), ..des::Edge::default() };
    let gateway = des::Tier { slots: 1000, queue: 1000, work: 0.001, ..des::Tier::default() };
    let servers = des::Tier {
        groups: vec![group(3.0, 1.0, 0.0), group(1.0, slow, error)],
        slots: 16,
        queue: 128,
        work: 0.01,
        balance: balance.1,
        ..des::Tier::default()
    };
    let des = des::Config {
        end: 45.0,
        tiers: vec![des::Tier { edges: vec![edge], ..gateway }, servers],
        classes: vec![open(rate)],
        ..des::Config::default()
    };
    Pair { flow, des }
}

#[test]
fn a_sick_replica_harms_as_much_as_it_should() {
    let kinds = [
        (Balance::Shared, des::Balance::Shared, 0.03),
        (Balance::TwoChoices, des::Balance::TwoChoices, 0.03),
        (Balance::Random, des::Balance::Random, 0.04),
        // In turn, the retry of a refused attempt is sure to meet another replica: 7 % worse.
        (Balance::RoundRobin, des::Balance::RoundRobin, 0.08),
    ];
    for (how, des_how, band) in kinds {
        for (u, slow, error) in
            [(0.4, 1.0, 0.5), (0.4, 10.0, 0.0), (0.7, 2.0, 0.0), (0.7, 5.0, 0.0), (0.85, 10.0, 0.0)]
        {
            let ([flow, des], _) = compare(&mut sick((how, des_how), u, slow, error));
            let at = format!("{how:?}, u {u}, {slow} times as slow, {error} errors");
            assert!((flow - des).abs() < band, "{at}: {flow}, simulated {des}");
        }
    }
}
