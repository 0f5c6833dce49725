//! The chain of the test bed in both worlds: at constant load, through a dip of its database, and
//! under errors.

use super::measure::{Errors, Seen, mean, quantile};
use super::{Pair, soak};
use crate::chain::Chain;
use des::Dip;

/// No dip.
const CALM: Dip = Dip { from: 1e6, until: 2e6, speed: 1.0 };

pub(super) fn simulated(chain: &Chain, dip: Dip, end: f64, seed: u64) -> des::Config {
    des::verdict_chain(&des::Chain {
        load: chain.u,
        slots: chain.slots as u32,
        queue: chain.places as u32,
        retries: chain.policy.retries,
        timeout: chain.policy.timeout_s,
        backoff: chain.policy.backoff_s,
        dip,
        end,
        seed,
    })
}

#[test]
fn chains_at_constant_load_are_within_the_bands() {
    let (mut calm, mut near, mut over) = (Errors::default(), Errors::default(), Errors::default());
    let mut all = Errors::default();
    let slots: &[f64] = if soak() { &[16.0, 64.0, 256.0] } else { &[64.0] };
    for u in [0.3, 0.5, 0.69, 0.8, 0.9, 0.95, 1.05, 1.2] {
        for slots in slots {
            for (places, backoff) in [(64.0, 0.0), (64.0, 0.05), (500.0, 0.0)] {
                let chain = Chain::new(u, *slots, places, backoff);
                let des = simulated(&chain, CALM, 90.0, 1);
                let seen = Pair { flow: chain.build(), des }.compare();
                all.add(seen);
                let part = match u {
                    u if u < 0.85 => &mut calm,
                    u if u < 1.0 => &mut near,
                    _ => &mut over,
                };
                part.add(seen);
            }
        }
    }
    let lines = [
        all.line("all"),
        calm.line("u 0.3–0.8"),
        near.line("u 0.9, 0.95"),
        over.line("u 1.05, 1.2"),
    ];
    println!("\nThe chain at constant load\n\n{}\n{}", Errors::HEAD, lines.join("\n"));
    assert!(mean(&all.success) < 0.01, "mean error of success {}", mean(&all.success));
    assert!(mean(&all.served) < 0.01, "mean error of throughput {}", mean(&all.served));
}

/// Seconds from `from` until success falls below a half for good; at most 240.
fn collapse(success: impl Fn(usize) -> f64, from: usize) -> usize {
    (from..240).rev().take_while(|t| success(*t) < 0.5).count()
}

#[test]
fn errors_alone_start_a_storm_sooner_or_later() {
    let chain = Chain::new(0.69, 256.0, 2000.0, 0.05);
    let mut world = chain.build();
    world.at(60, |w| w.find("db").knobs.error = [0.3; 8]);
    world.play(240);
    let flow = 180 - collapse(|t| world.rows[t].success, 60);
    let seeds = if soak() { 1..=8 } else { 1..=2 };
    let mut onsets: Vec<f64> = Vec::new();
    for seed in seeds {
        let mut des = simulated(&chain, CALM, 241.0, seed);
        des.tiers[2].errors = vec![des::Schedule::steps(0.0, &[(60.0, 0.3)])];
        let out = des::run(&des);
        let second = |t: usize| Seen::simulated(&out, t as f64, t as f64 + 1.0).success;
        onsets.push((180 - collapse(second, 60)) as f64);
    }
    println!(
        "\n30 % errors at u 0.69: seconds to collapse: flow {flow}, simulated {:.0} / {:.0} / \
         {:.0} (least, median, most of {} seeds; 180: none)",
        quantile(&onsets, 0.0),
        quantile(&onsets, 0.5),
        quantile(&onsets, 1.0),
        onsets.len()
    );
    assert!(flow < 180, "no storm");
}
