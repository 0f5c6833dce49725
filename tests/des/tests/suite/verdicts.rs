//! Which systems recover from a dip of their database, and which orders help: cells of the verdict
//! table, each well off a threshold. The dip comes early, as nothing happens before it.

use des::{Chain, Config, Dip, Schedule, run, verdict_chain};

const DIP: Dip = Dip { from: 10.0, until: 30.0, speed: 0.4 };

fn chain(queue: u32, backoff: f64, slots: u32) -> Config {
    verdict_chain(&Chain { queue, backoff, slots, dip: DIP, end: 100.0, ..Chain::default() })
}

/// Success in healthy times and at the end.
fn fate(config: &Config) -> (f64, f64) {
    let output = run(config);
    let success = |from, until| output.window(from, until).classes[0].success();
    (success(1.0, 10.0), success(80.0, 95.0))
}

fn heals(what: &str, config: &Config) {
    let (before, after) = fate(config);
    assert!(before > 0.99 && after > 0.99, "{what} heals, not {before} → {after}");
}

fn collapses(what: &str, config: &Config) {
    let (before, after) = fate(config);
    assert!(before > 0.99 && after < 0.2, "{what} collapses, not {before} → {after}");
}

#[test]
fn a_storm_needs_enough_callers_and_a_long_queue() {
    heals("a short queue", &chain(64, 0.0, 1000));
    heals("few slots", &chain(2000, 0.0, 64));
    heals("a pause and 128 slots", &chain(2000, 0.05, 128));
    collapses("no pause and 128 slots", &chain(2000, 0.0, 128));
    collapses("500 places, a pause and 256 slots", &chain(500, 0.05, 256));
}

fn with(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = chain(2000, 0.0, 256);
    change(&mut config);
    config
}

fn shed(share: f64) -> Config {
    with(|c| c.classes[0].admit = Schedule::during(1.0, 45.0, 75.0, share))
}

#[test]
fn orders_that_help_and_orders_that_do_not() {
    collapses("nothing done", &with(|_| {}));
    collapses(
        "callers × 2",
        &with(|c| {
            c.tiers[1].groups[0].replicas = Schedule::steps(4.0, &[(45.0, 8.0)]);
        }),
    );
    collapses("shed to 35 %", &shed(0.35));
    heals("shed to 8 %", &shed(0.08));
    heals(
        "no retries",
        &with(|c| {
            for tier in &mut c.tiers[..2] {
                tier.edges[0].retries = Schedule::steps(3.0, &[(45.0, 0.0)]);
            }
        }),
    );
    heals(
        "database × 4",
        &with(|c| {
            c.tiers[2].groups[0].replicas = Schedule::steps(1.0, &[(45.0, 4.0)]);
        }),
    );
}
