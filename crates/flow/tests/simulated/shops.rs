//! Two callers of one overloaded database whose slots fill about when their time-outs pass: the
//! hardest case, and the one in which the flow plane is least exact.

use super::measure::Seen;
use super::{Pair, open, soak};
use crate::chain::shop;

/// Slowness of the shared database, retries, places of its queue.
const OVERLOADS: [(f64, u32, f64); 6] = [
    (4.2, 1, 200.0),
    (5.0, 1, 50.0),
    (5.0, 1, 200.0),
    (5.0, 1, 800.0),
    (5.0, 0, 800.0),
    (8.0, 1, 200.0),
];

fn overloaded(slow: f64, retries: u32, places: f64) -> Pair {
    let mut flow = shop();
    let db = flow.find("db");
    db.knobs.groups[0].slow = slow;
    db.spec.queue = places;
    for edge in flow.nodes.iter_mut().flat_map(|n| &mut n.spec.edges) {
        edge.policy.retries = retries;
    }
    let tier = |replicas: f64, slots: u32, places: u32, work: f64| des::Tier {
        groups: vec![des::Group { replicas: replicas.into(), ..des::Group::default() }],
        slots,
        queue: replicas as u32 * places,
        work,
        ..des::Tier::default()
    };
    let edge = |to: usize, calls: [f64; 2], timeout: f64| des::Edge {
        to,
        calls: calls.to_vec(),
        timeout: timeout.into(),
        retries: f64::from(retries).into(),
        ..des::Edge::default()
    };
    let mut tiers = vec![
        tier(2.0, 128, 512, 0.002),
        tier(2.0, 64, 256, 0.003),
        tier(2.0, 64, 256, 0.01),
        tier(1.0, 16, places as u32, 0.004 * slow),
    ];
    tiers[0].edges = vec![edge(1, [1.0, 1.0], 0.25), edge(2, [0.0, 1.0], 1.0)];
    tiers[1].edges = vec![edge(3, [0.5, 0.5], 0.25)];
    tiers[2].edges = vec![edge(3, [0.0, 2.0], 0.25)];
    let classes = [1000.0, 200.0].map(|rate| {
        let mut class = open(rate);
        class.entry.timeout = 3.0.into();
        class
    });
    let end = if soak() { 300.0 } else { 100.0 };
    Pair {
        flow,
        des: des::Config { end, tiers, classes: classes.to_vec(), ..des::Config::default() },
    }
}

#[test]
fn an_overloaded_fan_in_stays_near_the_simulation() {
    let mut lines = Vec::new();
    for (slow, retries, places) in OVERLOADS {
        let mut pair = overloaded(slow, retries, places);
        let truth = Seen::simulated(&des::run(&pair.des), 30.0, pair.des.end).success;
        pair.flow.play(400);
        let mean = pair.flow.success(100..400);
        let jumps = pair.flow.rows[100..].windows(2).map(|p| (p[1].success - p[0].success).abs());
        let worst = jumps.fold(0.0, f64::max);
        lines.push(format!(
            "| {slow} | {retries} | {places} | {mean:.3} | {truth:.3} | {worst:.3} |"
        ));
        let at = format!("slow {slow}, {retries} retries, queue {places}");
        assert!((mean - truth).abs() < 0.2, "{at}: {mean}, simulated {truth}");
        assert!(worst < 0.15, "{at}: jump of {worst}");
    }
    println!(
        "\nOverloaded fan-in\n\n| database slower by | retries | places | flow | simulated | \
         largest jump per tick |\n|---|---|---|---|---|---|\n{}",
        lines.join("\n")
    );
}
