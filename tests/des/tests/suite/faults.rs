//! Faults of edges and tiers, and what operators do: delay, loss, aborts, slowness, replicas,
//! flushes, restarts, rates.

use des::{Config, Edge, Schedule, Spread, Tier, Users, run};

use crate::support::{caller, near, open, roomy, tier};

fn faulty(edge: Edge) -> Config {
    let callee = Tier { spread: Spread::Constant, ..roomy(0.01) };
    open(200.0, vec![caller(Edge { to: 1, ..edge }), callee])
}

#[test]
fn delay_is_added_and_counts_for_the_time_out() {
    let delay = Schedule::during(0.0, 20.0, 40.0, 0.03);
    let output = run(&faulty(Edge { delay, timeout: 0.05.into(), ..Edge::default() }));
    near("without", output.window(0.0, 19.0).classes[0].p99, 0.01, 1e-6);
    near("with", output.window(20.0, 39.0).classes[0].p50, 0.04, 1e-6);
    let delay = 0.045.into();
    let all = run(&faulty(Edge { delay, timeout: 0.05.into(), ..Edge::default() }));
    let all = all.window(0.0, 59.0);
    assert_eq!(all.classes[0].good, 0);
    near("time until failure", all.classes[0].mean_failure(), 0.05, 1e-6);
    assert!(all.tiers[1].served > 10_000);
    let mut shut = faulty(Edge { delay: 0.03.into(), ..Edge::default() });
    shut.tiers[1].groups[0].replicas = 0.0.into();
    let all = run(&shut).window(0.0, 59.0);
    assert!(all.edges[0].refused > 10_000);
    near("time until refusal", all.classes[0].mean_failure(), 0.03, 1e-6);
}

#[test]
fn lost_attempts_cost_the_time_out_and_aborted_ones_nothing() {
    let (timeout, retries) = (0.1.into(), 1.0.into());
    let lossy = Edge { loss: 0.2.into(), timeout, retries, ..Edge::default() };
    let all = run(&faulty(lossy)).window(0.0, 59.0);
    near("lost", all.edges[0].lost as f64 / all.edges[0].attempts as f64, 0.2, 0.01);
    assert!(all.edges[0].timed_out.abs_diff(all.edges[0].lost) < 10);
    near("attempts", all.edges[0].attempts_per_call(), 1.2, 0.01);
    near("latency after a loss", all.classes[0].p95, 0.11, 1e-6);
    near("success", all.classes[0].success(), 0.96, 0.01);
    let abort = Edge { abort: 0.5.into(), ..Edge::default() };
    let all = run(&faulty(abort)).window(0.0, 59.0);
    near("aborted", all.classes[0].success(), 0.5, 0.02);
    assert_eq!(all.classes[0].failed_seconds, 0.0);
}

#[test]
fn speed_divides_work() {
    let mut config = open(100.0, vec![Tier { spread: Spread::Constant, ..roomy(0.01) }]);
    config.tiers[0].speed = Schedule::during(1.0, 20.0, 40.0, 0.4);
    let output = run(&config);
    near("before", output.window(0.0, 19.0).classes[0].p50, 0.01, 1e-6);
    near("during", output.window(20.0, 39.0).classes[0].p50, 0.025, 1e-6);
    near("after", output.window(41.0, 59.0).classes[0].p50, 0.01, 1e-6);
}

#[test]
fn replicas_come_and_go() {
    let mut config = open(1000.0, vec![tier(1, 1000, 0.01)]);
    config.tiers[0].groups[0].replicas = Schedule::steps(4.0, &[(20.0, 8.0), (40.0, 0.0)]);
    let output = run(&config);
    near("four", output.window(10.0, 20.0).tiers[0].throughput(), 400.0, 20.0);
    near("eight", output.window(21.0, 40.0).tiers[0].throughput(), 800.0, 25.0);
    near("slots", output.window(21.0, 40.0).tiers[0].slots, 8.0 * 19.0, 1e-6);
    let none = output.window(40.0, 60.0).tiers[0];
    // Those at work end; the rest of the queue is answered, and so is everyone after.
    assert!(none.served <= 8 && none.dropped > 900, "{none:?}");
    assert_eq!(none.refused, none.arrived);
}

fn clogged() -> Config {
    let front = Tier { edges: vec![Edge { to: 1, ..Edge::default() }], ..tier(200, 0, 0.001) };
    let slow = Tier { spread: Spread::Constant, ..tier(10, 1000, 30.0) };
    open(100.0, vec![front, slow])
}

#[test]
fn new_replicas_take_up_the_queue() {
    let mut config = clogged();
    config.tiers[1].groups[0].replicas = Schedule::steps(1.0, &[(20.0, 3.0)]);
    let output = run(&config);
    near("before", output.window(18.0, 20.0).tiers[1].busy, 2.0 * 10.0, 1e-6);
    near("after", output.window(20.0, 22.0).tiers[1].busy, 2.0 * 30.0, 1e-6);
}

#[test]
fn a_flush_drops_the_queue_and_only_that() {
    let mut config = clogged();
    config.tiers[1].flushes = vec![20.0];
    let output = run(&config);
    assert_eq!(output.window(0.0, 20.0).classes[0].ended_good, 0);
    let then = output.window(20.0, 21.0);
    assert_eq!(then.tiers[1].dropped, 190);
    // Their callers hear of it at once and have a free slot again.
    assert!(then.classes[0].ended_failed >= 190);
    near("busy", then.tiers[1].busy, 10.0, 1e-6);
    assert_eq!(output.window(29.0, 32.0).tiers[1].served, 10);
}

#[test]
fn a_restart_drops_what_runs_too() {
    let mut config = clogged();
    config.tiers[1].restarts = vec![20.0];
    let output = run(&config);
    assert_eq!(output.window(20.0, 21.0).tiers[1].dropped, 200);
    assert_eq!(output.window(29.0, 45.0).tiers[1].served, 0);
    let mut config = clogged();
    config.tiers[0].restarts = vec![20.0];
    let output = run(&config);
    // The callee knows nothing of its callers' end, and works for no one.
    let all = output.window(20.0, 60.0);
    assert_eq!(all.tiers[0].dropped, 200);
    assert!(all.tiers[1].served >= 10 && all.tiers[1].wasted == all.tiers[1].served);
}

#[test]
fn users_follow_their_rate() {
    let mut config = open(0.0, vec![roomy(0.001)]);
    let rate = Schedule::steps(0.0, &[(10.0, 1000.0), (30.0, 0.0), (40.0, 200.0)]);
    config.classes[0].users = Users::Open { rate };
    let output = run(&config);
    let per_second =
        |from, until| output.window(from, until).classes[0].offered as f64 / (until - from);
    near("none", per_second(0.0, 10.0) + per_second(30.0, 40.0), 0.0, 0.0);
    near("many", per_second(10.0, 30.0), 1000.0, 30.0);
    near("few", per_second(40.0, 60.0), 200.0, 15.0);
}
