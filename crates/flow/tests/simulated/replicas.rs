//! Four replicas of which one is sick, behind every kind of balancer.

use super::{Pair, open};
use crate::chain::{World, one};
use flow::{Balance, GroupKnobs, TierSpec, UsersSpec};
use model::{CLASSES_MAX, EdgePolicy};

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
    let mut lines = Vec::new();
    for (how, des_how, band) in kinds {
        for (u, slow, error) in
            [(0.4, 1.0, 0.5), (0.4, 10.0, 0.0), (0.7, 2.0, 0.0), (0.7, 5.0, 0.0), (0.85, 10.0, 0.0)]
        {
            let [flow, des] = sick((how, des_how), u, slow, error).compare();
            let ms = |s: f64| format!("{:.1}", 1000.0 * s);
            lines.push(format!(
                "| {how:?} | {u} | {slow} | {error} | {:.3} / {:.3} | {} / {} | {} / {} |",
                flow.success,
                des.success,
                ms(flow.p50),
                ms(des.p50),
                ms(flow.p95),
                ms(des.p95)
            ));
            let at = format!("{how:?}, u {u}, {slow} times as slow, {error} errors");
            let off = (flow.success - des.success).abs();
            assert!(off < band, "{at}: {}, simulated {}", flow.success, des.success);
        }
    }
    println!(
        "\nSick replica, flow / simulated\n\n| balancer | u | slow | errors | success | p50, ms | \
         p95, ms |\n|---|---|---|---|---|---|---|\n{}",
        lines.join("\n")
    );
}
