//! Attempts, time-outs, retries, pauses, deadlines.

use des::{ClassRow, Config, Edge, Interval, Spread, Tier, run};

use crate::support::{caller, near, open, roomy, tier};

fn whole(config: &Config) -> Interval {
    run(config).window(0.0, config.end)
}

/// Users → a tier that passes on → `callee`.
fn pair(rate: f64, edge: Edge, callee: Tier) -> Config {
    open(rate, vec![caller(Edge { to: 1, ..edge }), callee])
}

#[test]
fn independent_failures_cost_a_geometric_number_of_attempts() {
    for (error, retries) in [(0.1, 3_i32), (0.5, 3), (0.5, 0), (0.9, 8)] {
        let edge = Edge { retries: f64::from(retries).into(), ..Edge::default() };
        let callee = Tier { errors: vec![error.into()], ..roomy(0.001) };
        let all = whole(&Config { end: 300.0, ..pair(1000.0, edge, callee) });
        let attempts = (1.0 - f64::powi(error, retries + 1)) / (1.0 - error);
        near("attempts", all.edges[0].attempts_per_call(), attempts, 0.01 * attempts);
        assert_eq!(all.edges[0].retries, all.edges[0].attempts - all.edges[0].calls);
        near("failure", all.edges[0].failure(), f64::powi(error, retries + 1), 0.004);
        near("success", all.classes[0].success(), 1.0 - f64::powi(error, retries + 1), 0.004);
    }
}

/// Each call has its own retries: one of four uses up none of the others'.
#[test]
fn every_call_begins_with_all_its_retries() {
    let edge = Edge { calls: vec![4.0], retries: 1.0.into(), ..Edge::default() };
    let callee = Tier { errors: vec![0.3.into()], ..roomy(0.001) };
    let all = whole(&Config { end: 300.0, ..pair(300.0, edge, callee) });
    near("failure of a call", all.edges[0].failure(), 0.09, 0.004);
    near("success", all.classes[0].success(), 0.91_f64.powi(4), 0.01);
}

#[test]
fn two_layers_of_retries_multiply() {
    let edge = |to| Edge { to, retries: 3.0.into(), ..Edge::default() };
    let broken = Tier { errors: vec![1.0.into()], ..roomy(0.001) };
    let all = whole(&open(100.0, vec![caller(edge(1)), caller(edge(2)), broken]));
    near("attempts", all.tiers[2].arrived as f64 / all.classes[0].offered as f64, 16.0, 0.1);
    assert_eq!(all.classes[0].good, 0);
}

/// An exponential callee answers within T with probability 1 − e^(−T/s), and works on regardless.
#[test]
fn abandoned_work_goes_on() {
    let (work, timeout) = (0.1, 0.05);
    let edge = Edge { timeout: timeout.into(), retries: 2.0.into(), ..Edge::default() };
    let all = whole(&Config { end: 300.0, ..pair(1000.0, edge, roomy(work)) });
    let late = (-timeout / work).exp();
    let attempts = 1.0 + late + late * late;
    near("attempts", all.edges[0].attempts_per_call(), attempts, 0.01);
    near("wasted", all.tiers[1].wasted as f64 / all.tiers[1].served as f64, late, 0.004);
    near("work of all attempts", all.tiers[1].busy, all.tiers[1].arrived as f64 * work, 500.0);
    near("success", all.classes[0].success(), 1.0 - late.powi(3), 0.004);
}

/// The user leaves at its time-out; the abandoned request still makes its call.
#[test]
fn abandoned_requests_still_call() {
    let front =
        Tier { spread: Spread::Constant, work: 0.2, ..caller(Edge { to: 1, ..Edge::default() }) };
    let mut config = Config { end: 30.0, ..open(100.0, vec![front, roomy(0.001)]) };
    config.classes[0].entry.timeout = 0.1.into();
    let all = whole(&config);
    assert_eq!(all.classes[0].good, 0);
    near("time until failure", all.classes[0].mean_failure(), 0.1, 1e-6);
    near("calls below", all.tiers[1].served as f64, all.classes[0].offered as f64, 60.0);
}

#[test]
fn attempts_and_pauses_add_up() {
    let broken = Tier { errors: vec![1.0.into()], spread: Spread::Constant, ..roomy(0.01) };
    let took = |jitter| {
        let (retries, backoff) = (3.0.into(), 0.05.into());
        let edge = Edge { retries, backoff, jitter, ..Edge::default() };
        let config = Config { end: 200.0, ..pair(500.0, edge, broken.clone()) };
        ClassRow::mean_failure(&whole(&config).classes[0])
    };
    near("fixed", took(false), 4.0 * 0.01 + 3.0 * 0.05, 1e-6);
    near("jitter", took(true), 4.0 * 0.01 + 3.0 * 0.05, 0.001);
}

/// Jitter is uniform between 0 and twice the mean: with one retry, so are the failures.
#[test]
fn jitter_spreads_to_twice_the_mean() {
    let broken = Tier {
        errors: vec![des::Schedule::during(1.0, 100.0, 1e9, 0.0)],
        spread: Spread::Constant,
        ..roomy(0.0)
    };
    let edge = Edge { retries: 1.0.into(), backoff: 50.0.into(), ..Edge::default() };
    let output = run(&Config { end: 300.0, ..pair(500.0, edge, broken) });
    let sorted = output.latencies(99..100, 0);
    assert!(sorted.len() > 350);
    near("median", f64::from(sorted[sorted.len() / 2]), 50.0, 8.0);
    near("longest", f64::from(sorted[sorted.len() - 1]), 100.0, 2.0);
}

#[test]
fn refused_attempts_cost_no_time() {
    let edge = Edge { retries: 4.0.into(), ..Edge::default() };
    let mut shut = roomy(0.01);
    shut.groups[0].replicas = 0.0.into();
    let all = whole(&pair(100.0, edge, shut));
    assert_eq!(all.edges[0].refused, 5 * all.edges[0].calls);
    assert_eq!(all.classes[0].failed_seconds, 0.0);
    assert_eq!(all.tiers[0].busy, 0.0);
}

fn overloaded(deadline: bool) -> Interval {
    let (timeout, retries) = (0.2.into(), 2.0.into());
    let edge = Edge { timeout, retries, deadline, ..Edge::default() };
    whole(&Config { end: 300.0, ..pair(200.0, edge, tier(1, 1000, 0.01)) })
}

/// In first-come order those served have waited almost to their deadline: what is left of it is
/// exponential with rate λ − μ, work with rate μ, so the share in time is μ/λ.
#[test]
fn deadlines_discard_what_no_one_waits_for() {
    let (without, with) = (overloaded(false), overloaded(true));
    assert_eq!(without.tiers[1].expired, 0);
    let wasted = |i: &Interval| i.tiers[1].wasted as f64 / i.tiers[1].served as f64;
    assert!(wasted(&without) > 0.99, "{}", wasted(&without));
    let in_time = 300.0 * 100.0 / with.tiers[1].arrived as f64;
    near("wasted with deadlines", wasted(&with), 1.0 - in_time, 0.01);
    assert!(with.tiers[1].expired > with.tiers[1].arrived * 3 / 4);
    assert!(with.classes[0].good > 10 * without.classes[0].good.max(1));
}

/// The user's deadline of 250 ms leaves room for two attempts of 100 ms, not for the allowed nine,
/// and the second tier's deadline is never later than the user's.
#[test]
fn no_attempt_begins_after_the_callers_deadline() {
    let slow = Tier { spread: Spread::Constant, ..roomy(1.0) };
    let (timeout, retries) = (0.1.into(), 9.0.into());
    let edge = Edge { timeout, retries, deadline: true, ..Edge::default() };
    let mut config = pair(50.0, edge, slow);
    config.classes[0].entry.timeout = 0.25.into();
    let alone = whole(&config);
    near("unbounded", alone.edges[0].attempts_per_call(), 10.0, 0.2);
    config.classes[0].entry.deadline = true;
    let bound = whole(&config);
    near("bounded", bound.edges[0].attempts_per_call(), 3.0, 0.02);
    near("time until failure", bound.classes[0].mean_failure(), 0.25, 1e-6);
    // The caller itself ends with its deadline, in the middle of its third attempt.
    near("slot", bound.tiers[0].mean_stay(), 0.25, 1e-6);
    // Nor does it sit out a pause that ends after its deadline.
    config.tiers[0].edges[0].backoff = 0.2.into();
    config.tiers[0].edges[0].jitter = false;
    near("slot", whole(&config).tiers[0].mean_stay(), 0.1, 1e-6);
}
