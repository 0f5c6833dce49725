//! Fan-out, fan-in, classes, replica groups, numbers of calls.

use des::{Balance, Class, Config, Edge, Group, Spread, Tier, Users, run};

use crate::support::{caller, near, open, roomy};

fn to(to: usize) -> Edge {
    Edge { to, ..Edge::default() }
}

fn constant(work: f64) -> Tier {
    Tier { spread: Spread::Constant, ..roomy(work) }
}

#[test]
fn calls_go_out_in_sequence() {
    let front = Tier { edges: vec![Edge { calls: vec![2.0], ..to(1) }, to(2)], ..constant(0.001) };
    let config = open(100.0, vec![front, constant(0.01), constant(0.005)]);
    let all = run(&config).window(0.0, 59.0);
    for latency in [all.classes[0].p50, all.classes[0].p99, all.classes[0].mean_latency()] {
        near("latency", latency, 0.001 + 2.0 * 0.01 + 0.005, 1e-6);
    }
}

#[test]
fn a_failed_call_spares_the_later_ones_unless_it_is_optional() {
    let rest = |optional| {
        let front = Tier { edges: vec![Edge { optional, ..to(1) }, to(2)], ..constant(0.001) };
        let broken = Tier { errors: vec![0.25.into()], ..constant(0.001) };
        let config = open(1000.0, vec![front, broken, constant(0.001)]);
        let all = run(&config).window(0.0, 59.0);
        let share = all.edges[1].calls as f64 / all.edges[0].calls as f64;
        (share, all.classes[0].success())
    };
    let (share, success) = rest(false);
    near("needed: calls", share, 0.75, 0.01);
    near("needed: success", success, 0.75, 0.01);
    let (share, success) = rest(true);
    near("optional: calls", share, 1.0, 0.001);
    near("optional: success", success, 1.0, 1e-9);
}

/// Two front tiers with a class each, both calling the third; one of them only now and then.
fn two_callers() -> Config {
    let class = |name: &str, rate: f64, entry: usize| Class {
        name: name.to_owned(),
        users: Users::Open { rate: rate.into() },
        entry: to(entry),
        ..Class::default()
    };
    let mut config = open(0.0, vec![caller(to(2)), caller(to(2)), constant(0.002)]);
    config.tiers[1].edges[0].calls = vec![1.0, 2.3];
    config.classes = vec![class("web", 300.0, 0), class("app", 500.0, 1)];
    config.end = 200.0;
    config
}

#[test]
fn callers_of_one_tier_add_up() {
    let all = run(&two_callers()).window(0.0, 199.0);
    near("calls of web", all.edges[0].calls as f64 / 199.0, 300.0, 6.0);
    near("calls of app", all.edges[1].calls as f64 / 199.0, 2.3 * 500.0, 18.0);
    near("callee", all.tiers[2].throughput(), 300.0 + 2.3 * 500.0, 20.0);
    assert_eq!(all.edges.iter().map(|e| e.from).collect::<Vec<_>>()[..2], [Some(0), Some(1)]);
}

#[test]
fn errors_work_and_calls_belong_to_classes() {
    let mut config = two_callers();
    config.classes[1].entry = to(0);
    config.tiers[0].edges[0].calls = vec![1.0, 0.3];
    config.tiers[2].errors = vec![0.2.into(), 0.0.into()];
    config.tiers[0] = Tier {
        work_scale: vec![1.0, 3.0],
        work: 0.01,
        spread: Spread::Constant,
        ..config.tiers[0].clone()
    };
    let all = run(&config).window(0.0, 199.0);
    near("web", all.classes[0].success(), 0.8, 0.01);
    near("app", all.classes[1].success(), 1.0, 1e-9);
    near("latency of web", all.classes[0].p99, 0.012, 1e-6);
    near("latency of app, few call", all.classes[1].p50, 0.030, 1e-6);
    near("latency of app, some do", all.classes[1].p95, 0.032, 1e-6);
    near("calls", all.edges[0].calls as f64 / 199.0, 300.0 + 0.3 * 500.0, 8.0);
}

/// One replica of four is sick: a quarter of the attempts, each drawn afresh.
#[test]
fn replica_groups_get_their_share() {
    for balance in [Balance::Random, Balance::RoundRobin, Balance::Shared] {
        let well = Group { replicas: 3.0.into(), ..Group::default() };
        let sick = Group { error: 0.4.into(), slow: 5.0.into(), ..Group::default() };
        let tiers = vec![
            caller(Edge { retries: 1.0.into(), ..to(1) }),
            Tier { groups: vec![well, sick], balance, ..constant(0.01) },
        ];
        let config = Config { end: 300.0, ..open(500.0, tiers) };
        let all = run(&config).window(0.0, 299.0);
        near("attempts", all.edges[0].attempts_per_call(), 1.1, 0.003);
        let work = all.tiers[1].busy / all.tiers[1].served as f64;
        near("work", work, 0.01 * (0.75 + 0.25 * 5.0), 2e-4);
    }
}

#[test]
fn admission_sheds_one_class_and_not_the_other() {
    let mut config = two_callers();
    config.classes[0].admit = des::Schedule::during(1.0, 50.0, 100.0, 0.08);
    let output = run(&config);
    near("before", output.window(0.0, 50.0).classes[0].success(), 1.0, 1e-9);
    let during = output.window(50.0, 100.0);
    near("shed", during.classes[0].success(), 0.08, 0.01);
    assert_eq!(during.classes[0].shed, during.classes[0].failed);
    near("not shed", during.classes[1].success(), 1.0, 1e-9);
}
