//! Which systems recover from a dip of their database, and which orders end a storm.

use super::chains::simulated;
use super::measure::{Seen, mean, quantile};
use super::soak;
use crate::chain::{Chain, World};
use des::{Dip, Schedule};
use model::BreakerPolicy;

const DIP: Dip = Dip { from: 60.0, until: 80.0, speed: 0.4 };
const SLOTS: [f64; 5] = [64.0, 96.0, 128.0, 256.0, 1000.0];
/// Places of the database's queue, mean back-off.
const LINES: [(f64, f64); 6] =
    [(64.0, 0.0), (64.0, 0.05), (500.0, 0.0), (500.0, 0.05), (2000.0, 0.0), (2000.0, 0.05)];
/// The queue drains in just the time-out: either fate is right.
const KNIFE_EDGE: [(f64, f64, f64); 2] = [(500.0, 0.0, 256.0), (500.0, 0.0, 1000.0)];
/// Looked at unless all are: both sides of the edge.
const SOME: [(f64, f64, f64); 6] = [
    (500.0, 0.05, 128.0),
    (500.0, 0.05, 256.0),
    (2000.0, 0.0, 96.0),
    (2000.0, 0.0, 128.0),
    (2000.0, 0.05, 128.0),
    (2000.0, 0.05, 256.0),
];

#[test]
fn dips_end_as_they_should() {
    let mut lines = Vec::new();
    let (mut came, mut left, mut settled) = (Vec::new(), Vec::new(), Vec::new());
    for (places, backoff) in LINES {
        let mut line = format!("| {places}, {backoff} s |");
        for slots in SLOTS {
            let cell = (places, backoff, slots);
            if !soak() && !SOME.contains(&cell) {
                line += " – |";
                continue;
            }
            let chain = Chain::new(0.69, slots, places, backoff);
            let mut flow = chain.dipped();
            flow.play(240);
            let out = des::run(&simulated(&chain, DIP, 241.0, 1));
            let now = flow.success(60..80);
            came.push((now - Seen::simulated(&out, 60.0, 80.0).success).abs());
            left.push((now - answered(&out, 60.0, 80.0)).abs());
            let later = flow.success(65..80);
            settled.push((later - answered(&out, 65.0, 80.0)).abs());
            let end = [flow.success(220..240), Seen::simulated(&out, 220.0, 240.0).success];
            line += &format!(" {:.3} / {:.3} |", end[0], end[1]);
            let same = end.iter().all(|x| *x > 0.99) || end.iter().all(|x| *x < 0.15);
            assert!(same || KNIFE_EDGE.contains(&cell), "{cell:?} ends at {end:?}");
        }
        lines.push(line);
    }
    println!(
        "\nSuccess at 220–240 s, flow / simulated\n\n| places, back-off | {} |\n\
         |---|---|---|---|---|---|\n{}",
        SLOTS.map(|s| format!("{s} slots")).join(" | "),
        lines.join("\n")
    );
    let errors = [
        ("60–80 s, by the users who came", &came),
        ("60–80 s, by the users who left", &left),
        ("65–80 s, by the users who left", &settled),
    ];
    for (what, errors) in errors {
        println!(
            "\nError of success in {what}, {} cells: mean {:.4}, median {:.4}, 90 % {:.4}, \
             max {:.4}",
            errors.len(),
            mean(errors),
            quantile(errors, 0.5),
            quantile(errors, 0.9),
            quantile(errors, 1.0)
        );
    }
    assert!(mean(&left) < 0.03, "mean error in the dip {}", mean(&left));
}

/// Success among the users who were answered or gave up in `from..until` seconds, as the flow
/// plane counts them.
fn answered(out: &des::Output, from: f64, until: f64) -> f64 {
    let all = out.window(from, until);
    let (good, failed) = (all.classes[0].ended_good, all.classes[0].ended_failed);
    good as f64 / (good + failed).max(1) as f64
}

/// One thing to do about a storm, in both worlds.
struct Order {
    name: &'static str,
    heals: bool,
    flow: fn(&mut World),
    des: fn(&mut des::Config),
}

const AT: f64 = 120.0;

fn policies(w: &mut World, change: impl Fn(&mut model::EdgePolicy)) {
    w.nodes.iter_mut().flat_map(|n| &mut n.spec.edges).for_each(|e| change(&mut e.policy));
}

fn edges(c: &mut des::Config, change: impl Fn(&mut des::Edge)) {
    c.tiers.iter_mut().flat_map(|t| &mut t.edges).for_each(change);
}

macro_rules! shed {
    ($name:expr, $heals:expr, $share:expr, $seconds:expr) => {
        Order {
            name: $name,
            heals: $heals,
            flow: |w| {
                w.at(120, |w| w.crowds[0].admit = $share);
                w.at(120 + $seconds, |w| w.crowds[0].admit = 1.0);
            },
            des: |c| {
                let until = AT + f64::from($seconds as u32);
                c.classes[0].admit = Schedule::during(1.0, AT, until, $share);
            },
        }
    };
}

/// To callers, users and the database.
fn capacity_and_load() -> Vec<Order> {
    vec![
        Order { name: "nothing", heals: false, flow: |_| {}, des: |_| {} },
        Order {
            name: "callers × 2",
            heals: false,
            flow: |w| {
                w.at(120, |w| {
                    w.find("gw").knobs.groups[0].running = 4.0;
                    w.find("ord").knobs.groups[0].running = 8.0;
                });
            },
            des: |c| {
                for (tier, replicas) in [(0, 2.0), (1, 4.0)] {
                    let more = Schedule::steps(replicas, &[(AT, 2.0 * replicas)]);
                    c.tiers[tier].groups[0].replicas = more;
                }
            },
        },
        shed!("shed to 50 % for 60 s", false, 0.5, 60),
        shed!("shed to 35 % for 30 s", false, 0.35, 30),
        shed!("shed to 35 % for 60 s", false, 0.35, 60),
        shed!("shed to 8 % for 30 s", true, 0.08, 30),
        Order {
            name: "database × 4",
            heals: true,
            flow: |w| w.at(120, |w| w.find("db").knobs.groups[0].running = 4.0),
            des: |c| c.tiers[2].groups[0].replicas = Schedule::steps(1.0, &[(AT, 4.0)]),
        },
    ]
}

/// To the edges.
fn policies_of_edges() -> Vec<Order> {
    vec![
        Order {
            name: "retries off",
            heals: true,
            flow: |w| w.at(120, |w| policies(w, |p| p.retries = 0)),
            des: |c| edges(c, |e| e.retries = Schedule::steps(3.0, &[(AT, 0.0)])),
        },
        Order {
            name: "retry budget 0.1",
            heals: true,
            flow: |w| w.at(120, |w| policies(w, |p| p.retry_budget = Some(0.1))),
            des: |c| {
                edges(c, |e| {
                    let share = Schedule::steps(f64::INFINITY, &[(AT, 0.1)]);
                    e.budget = Some(des::Budget { share, cap: 100.0 });
                });
            },
        },
        Order {
            name: "breakers from the start",
            heals: true,
            flow: |w| {
                let breaker = BreakerPolicy {
                    failure_ratio: 0.5,
                    volume_min: 20.0,
                    open_s: 5.0,
                    probe_ratio: 0.1,
                };
                policies(w, |p| p.breaker = Some(breaker));
            },
            des: |c| {
                edges(c, |e| {
                    e.breaker = Some(des::Breaker {
                        from: 0.0,
                        threshold: 0.5,
                        window: 1.0,
                        volume: 20,
                        open: 5.0,
                        probes: 100,
                    });
                });
            },
        },
        Order {
            name: "deadlines from the start",
            heals: true,
            flow: |w| policies(w, |p| p.propagate_deadline = true),
            des: |c| edges(c, |e| e.deadline = true),
        },
    ]
}

#[test]
fn orders_end_a_storm_or_do_not() {
    let mut lines = Vec::new();
    let orders = capacity_and_load().into_iter().chain(policies_of_edges());
    for (at, order) in orders.enumerate() {
        if !soak() && at % 3 != 1 {
            continue;
        }
        let chain = Chain::new(0.69, 256.0, 2000.0, 0.0);
        let mut flow = chain.dipped();
        (order.flow)(&mut flow);
        flow.play(300);
        let mut des = simulated(&chain, DIP, 301.0, 1);
        (order.des)(&mut des);
        let out = des::run(&des);
        let end = [flow.success(270..300), Seen::simulated(&out, 270.0, 300.0).success];
        lines.push(format!("| {} | {:.3} | {:.3} |", order.name, end[0], end[1]));
        let right = end.iter().all(|x| if order.heals { *x > 0.98 } else { *x < 0.15 });
        assert!(right, "{} ends at {end:?}", order.name);
    }
    println!(
        "\nOrders in a storm: success at 270–300 s\n\n| order | flow | simulated |\n|---|---|---|\n{}",
        lines.join("\n")
    );
}
