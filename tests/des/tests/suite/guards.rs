//! Retry budget, circuit breaker, connection pool.

use des::{Breaker, Budget, Config, Edge, Pool, Schedule, Tier, Users, run};

use crate::support::{agrees, batches, caller, near, open, roomy, tier};

#[test]
fn a_budget_bounds_the_attempts() {
    let share = 0.1;
    let cap = 50.0;
    let attempts = |budget| {
        let (to, retries) = (1, 3.0.into());
        let edge = Edge { to, retries, budget, ..Edge::default() };
        let config = open(300.0, vec![caller(edge), tier(1, 5, 0.01)]);
        run(&config).window(0.0, 60.0).edges[0]
    };
    let free = attempts(None);
    assert!(free.attempts_per_call() > 2.0, "no overload: {}", free.attempts_per_call());
    let bound = attempts(Some(Budget { share: share.into(), cap }));
    let good = (bound.calls - bound.failed) as f64;
    let most = bound.calls as f64 + share * good + cap;
    assert!(bound.attempts as f64 <= most, "{} attempts, allowed {most}", bound.attempts);
    assert!(bound.attempts as f64 > 0.99 * most, "{} of {most} are used", bound.attempts);
    assert!(bound.over_budget > 0);
}

#[test]
fn a_budget_can_be_switched_on() {
    let share = Schedule::steps(f64::INFINITY, &[(30.0, 0.0)]);
    let budget = Some(Budget { share, cap: 10.0 });
    let edge = Edge { to: 1, retries: 1.0.into(), budget, ..Edge::default() };
    let broken = Tier { errors: vec![1.0.into()], ..roomy(0.001) };
    let output = run(&open(100.0, vec![caller(edge), broken]));
    near("before", output.window(0.0, 30.0).edges[0].attempts_per_call(), 2.0, 0.01);
    near("after", output.window(31.0, 60.0).edges[0].attempts_per_call(), 1.0, 0.01);
}

#[test]
fn a_breaker_opens_and_closes() {
    let errors = vec![Schedule::during(0.0, 20.0, 40.0, 1.0)];
    let (from, threshold, window) = (0.0, 0.5, 2.0);
    let (volume, open_for, probes) = (20, 3.0, 5);
    let breaker = Some(Breaker { from, threshold, window, volume, open: open_for, probes });
    let edge = Edge { to: 1, breaker, ..Edge::default() };
    let broken = Tier { errors, ..roomy(0.001) };
    let config = open(200.0, vec![caller(edge), broken]);
    let output = run(&config);
    assert_eq!(output.window(0.0, 20.0).edges[0].opened, 0);
    let during = output.window(20.0, 40.0);
    // Once by the share, then each time that the probes fail: every three seconds.
    assert!((6..=7).contains(&during.edges[0].opened), "opened {} times", during.edges[0].opened);
    assert!(during.edges[0].rejected as f64 > 0.85 * during.edges[0].calls as f64);
    assert!(during.tiers[1].arrived < 400, "{} pass", during.tiers[1].arrived);
    let after = output.window(44.0, 59.0);
    assert_eq!((after.edges[0].opened, after.edges[0].rejected), (0, 0));
    near("success", after.classes[0].success(), 1.0, 1e-9);
}

#[test]
fn a_breaker_sleeps_before_its_instant() {
    let (threshold, window) = (0.5, 2.0);
    let breaker = Some(Breaker { from: 30.0, threshold, window, volume: 20, open: 5.0, probes: 5 });
    let edge = Edge { to: 1, breaker, ..Edge::default() };
    let broken = Tier { errors: vec![1.0.into()], ..roomy(0.001) };
    let output = run(&open(200.0, vec![caller(edge), broken]));
    assert_eq!(output.window(0.0, 30.0).edges[0].rejected, 0);
    assert!(output.window(31.0, 60.0).edges[0].rejected > 5000);
}

fn pooled(pool: Pool, callee: Tier) -> Config {
    let edge = Edge { to: 1, pool: Some(pool), ..Edge::default() };
    open(100.0, vec![caller(edge), callee])
}

#[test]
fn leaked_connections_exhaust_a_pool_until_a_restart() {
    let pool = Pool { size: 10, acquire: 0.1, leak: Schedule::during(0.0, 10.0, 60.0, 0.02) };
    let mut config = Config { end: 80.0, ..pooled(pool, roomy(0.001)) };
    config.tiers[0].restarts = vec![60.0];
    let output = run(&config);
    let before = output.window(0.0, 10.0);
    assert_eq!((before.edges[0].leaked, before.edges[0].unconnected), (0, 0));
    let dry = output.window(40.0, 60.0);
    assert_eq!((dry.edges[0].leaked, dry.edges[0].in_use), (10, 10));
    assert_eq!((dry.classes[0].good, dry.tiers[1].arrived), (0, 0));
    near("failure takes the wait", output.window(40.0, 59.0).classes[0].mean_failure(), 0.1, 1e-6);
    let healed = output.window(60.0, 79.0);
    assert_eq!(healed.edges[0].leaked, 0);
    near("success", healed.classes[0].success(), 1.0, 1e-9);
}

/// Twice the load that the connections can carry: half of the calls give up waiting, and none of
/// these ever gets a connection that then no one would give back.
#[test]
fn who_gives_up_waiting_gets_no_connection() {
    let pool = Pool { size: 10, acquire: 0.5, leak: 0.0.into() };
    let mut config = Config { end: 510.0, ..pooled(pool, roomy(0.2)) };
    config.classes[0].users = Users::Open { rate: Schedule::steps(100.0, &[(500.0, 0.0)]) };
    let output = run(&config);
    let full = output.window(10.0, 500.0);
    near("throughput", full.tiers[1].throughput(), 50.0, 1.0);
    near("no connection", full.edges[0].failure(), 0.5, 0.01);
    assert_eq!(full.edges[0].in_use, 10);
    assert_eq!(output.window(500.0, 510.0).edges[0].in_use, 0);
}

/// A pool before a callee that always has room is a queue of its own: Erlang's waiting formula.
#[test]
fn a_pool_is_a_queue() {
    let (size, work) = (12_u32, 0.1);
    let pool = Pool { size, acquire: 1e6, leak: 0.0.into() };
    let config = Config { end: 8000.0, ..pooled(pool, roomy(work)) };
    let a = 100.0 * work;
    let mut blocking = 1.0;
    for n in 1..=size {
        blocking = a * blocking / (f64::from(n) + a * blocking);
    }
    let idle = 1.0 - a / f64::from(size);
    let waits = blocking / (1.0 - (1.0 - idle) * (1.0 - blocking));
    let exact = work + waits * work / (f64::from(size) - a);
    let latency = batches(&run(&config), 40, |w| w.classes[0].mean_latency());
    agrees("latency", latency, exact, 0.006 * exact);
}
