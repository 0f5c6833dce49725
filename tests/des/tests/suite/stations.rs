//! Queues, slots and balancing against exact state sums, and Little's law.

use des::{Balance, Class, Config, Edge, Group, Spread, Tier, Users, run};

use crate::support::{agrees, batches, open, tier};

/// What a birth-death chain says of a station.
struct Exact {
    throughput: f64,
    refused: f64,
    wait: f64,
}

/// Stationary probabilities of states 0..=top, from the rates up and down.
fn birth_death(top: u32, up: impl Fn(u32) -> f64, down: impl Fn(u32) -> f64) -> Vec<f64> {
    let mut weights = vec![1.0];
    for n in 1..=top {
        let last = weights[weights.len() - 1];
        weights.push(last * up(n - 1) / down(n));
    }
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

/// M/M/c with `queue` places.
fn station(rate: f64, slots: u32, queue: u32, work: f64) -> Exact {
    let p = birth_death(slots + queue, |_| rate, |n| f64::from(n.min(slots)) / work);
    let refused = p[p.len() - 1];
    let waiting = (0_u32..).zip(&p).map(|(n, p)| f64::from(n.saturating_sub(slots)) * p);
    let throughput = rate * (1.0 - refused);
    Exact { throughput, refused, wait: waiting.sum::<f64>() / throughput }
}

/// Throughput of `jobs` that think for `think` on average and then need one of `slots`.
fn repairmen(jobs: u32, think: f64, slots: u32, work: f64) -> f64 {
    let down = |n: u32| f64::from(n.min(slots)) / work;
    let p = birth_death(jobs, |n| f64::from(jobs - n) / think, down);
    (1_u32..).zip(&p[1..]).map(|(n, p)| p * down(n)).sum()
}

fn check_station(config: &Config, exact: &Exact, sharp: f64) {
    let output = run(config);
    let of = |value: fn(&des::TierRow) -> f64| batches(&output, 40, |w| value(&w.tiers[0]));
    agrees("throughput", of(des::TierRow::throughput), exact.throughput, sharp * exact.throughput);
    agrees("refused", of(des::TierRow::refusal), exact.refused, sharp);
    agrees("wait", of(des::TierRow::mean_wait), exact.wait, 10.0 * sharp * exact.wait + 1e-7);
}

#[test]
fn one_queue_agrees_with_the_state_sum() {
    for (slots, queue, load) in [
        (1, 0, 0.5),
        (1, 10, 0.9),
        (1, 1000, 0.7),
        (4, 2, 1.0),
        (16, 0, 0.8),
        (16, 64, 0.95),
        (16, 64, 1.3),
        (64, 200, 0.9),
    ] {
        let work = 0.01;
        let rate = load * f64::from(slots) / work;
        let end = (1e6 / rate).round();
        let config = Config { end, ..open(rate, vec![tier(slots, queue, work)]) };
        check_station(&config, &station(rate, slots, queue, work), 0.006);
    }
}

#[test]
fn random_balancing_makes_a_station_of_each_replica() {
    let (replicas, slots, queue, work, rate) = (4_u32, 2, 5, 0.01, 700.0);
    let groups = vec![Group { replicas: f64::from(replicas).into(), ..Group::default() }];
    let balance = Balance::Random;
    let tiers = vec![Tier { groups, balance, ..tier(slots, replicas * queue, work) }];
    let config = Config { end: 2000.0, ..open(rate, tiers) };
    let one = station(rate / f64::from(replicas), slots, queue, work);
    let exact = Exact { throughput: one.throughput * f64::from(replicas), ..one };
    check_station(&config, &exact, 0.003);
}

#[test]
fn better_balancing_waits_less() {
    let wait = |balance| {
        let groups = vec![Group { replicas: 8.0.into(), ..Group::default() }];
        let tiers = vec![Tier { groups, balance, ..tier(1, 8000, 0.01) }];
        let config = Config { end: 500.0, ..open(680.0, tiers) };
        run(&config).window(50.0, 500.0).tiers[0].mean_wait()
    };
    let kinds = [Balance::Shared, Balance::TwoChoices, Balance::RoundRobin, Balance::Random];
    let waits = kinds.map(wait);
    assert!(waits.is_sorted_by(|a, b| 1.2 * a < *b), "{waits:?}");
}

#[test]
fn the_spread_of_work_counts_as_pollaczek_and_khinchine_say() {
    let (work, rate) = (0.01, 60.0);
    for (spread, cv) in [
        (Spread::Constant, 0.0_f64),
        (Spread::Exponential, 1.0),
        (Spread::Lognormal(0.7), 0.7),
        (Spread::Gamma(2.0), 2.0),
    ] {
        let tiers = vec![Tier { spread, ..tier(1, 1_000_000, work) }];
        let config = Config { end: 20_000.0, ..open(rate, tiers) };
        let second_moment = work * work * (1.0 + cv * cv);
        let exact = rate * second_moment / (2.0 * (1.0 - rate * work));
        let wait = batches(&run(&config), 40, |w| w.tiers[0].mean_wait());
        agrees("wait", wait, exact, 0.02 * exact);
    }
}

#[test]
fn a_fixed_crowd_agrees_with_the_repairmen() {
    for (jobs, think, slots) in [(5, 0.02, 1), (40, 0.05, 8), (40, 0.2, 8), (200, 0.1, 16)] {
        let work = 0.01;
        let config = Config {
            end: 400.0,
            tiers: vec![tier(slots, jobs, work)],
            classes: vec![Class {
                users: Users::Closed { count: jobs, think },
                ..Class::default()
            }],
            ..Config::default()
        };
        let got = batches(&run(&config), 40, |w| w.tiers[0].throughput());
        let exact = repairmen(jobs, think, slots, work);
        agrees("throughput", got, exact, 0.005 * exact);
    }
}

/// A caller without a free slot is a closed network: its slots are the jobs, its work the thinking.
#[test]
fn slots_are_held_through_calls() {
    let (slots, own, below) = (12, 0.01, 0.02);
    let busy = Tier { edges: vec![Edge { to: 1, ..Edge::default() }], ..tier(slots, 50, own) };
    let config = Config { end: 1000.0, ..open(3000.0, vec![busy, tier(4, 100, below)]) };
    let got = batches(&run(&config), 40, |w| w.tiers[0].throughput());
    let exact = repairmen(slots, own, 4, below);
    agrees("throughput", got, exact, 0.005 * exact);
}

/// Integrals over time on one side, sums over requests on the other.
#[test]
fn littles_law_holds_at_each_tier() {
    let front = Tier { edges: vec![Edge { to: 1, ..Edge::default() }], ..tier(30, 60, 0.01) };
    let config = Config { end: 1000.0, ..open(750.0, vec![front, tier(8, 40, 0.01)]) };
    let all = run(&config).window(0.0, 1000.0);
    for (index, tier) in all.tiers.iter().enumerate() {
        let present = tier.queued + tier.busy;
        assert!(present > 1000.0, "tier {index}: {present} is no load");
        let gap = (present / tier.stayed - 1.0).abs();
        assert!(gap < 1e-3, "tier {index}: {present} against {}", tier.stayed);
        let gap = (tier.queued / tier.waited - 1.0).abs();
        assert!(gap < 1e-3, "tier {index}: {} against {}", tier.queued, tier.waited);
        let flow = tier.refused + tier.served;
        assert!(tier.arrived - flow < 150, "tier {index}: {} arrived, {flow} left", tier.arrived);
    }
}
