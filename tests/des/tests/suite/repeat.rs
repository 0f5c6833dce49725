//! Same seed, same run: compared in full, on a system that uses every kind of chance.

use des::{Breaker, Budget, Chain, Config, Pool, Spread, run, verdict_chain};

fn busy(seed: u64) -> Config {
    let chain =
        Chain { seed, slots: 256, queue: 500, backoff: 0.05, end: 90.0, ..Chain::default() };
    let mut config = verdict_chain(&chain);
    config.tiers[0].spread = Spread::Lognormal(1.5);
    config.tiers[1].spread = Spread::Gamma(0.5);
    config.tiers[1].restarts = vec![70.0];
    config.tiers[2].errors = vec![0.01.into()];
    let edge = &mut config.tiers[0].edges[0];
    edge.budget = Some(Budget { share: 0.5.into(), cap: 100.0 });
    edge.pool = Some(Pool { size: 400, acquire: 0.1, leak: 0.0001.into() });
    edge.loss = 0.01.into();
    let edge = &mut config.tiers[1].edges[0];
    let (threshold, window) = (0.8, 5.0);
    edge.breaker =
        Some(Breaker { from: 75.0, threshold, window, volume: 50, open: 2.0, probes: 10 });
    edge.calls = vec![0.9];
    config
}

#[test]
fn a_seed_repeats_and_another_differs() {
    let first = run(&busy(1));
    assert!(first == run(&busy(1)), "two runs of one seed differ");
    assert!(first != run(&busy(2)), "the seed does not matter");
    let all = first.window(0.0, 90.0);
    let used = all.edges[0].over_budget * all.edges[0].lost * u64::from(all.edges[0].leaked);
    assert!(used * all.edges[1].opened * all.tiers[1].dropped > 0, "{:?}", all.edges);
}

/// A tier's chances are its own: what happens below does not change who comes when.
#[test]
fn arrivals_do_not_depend_on_the_system() {
    let offered = |slots| {
        let output = run(&verdict_chain(&Chain { slots, end: 20.0, ..Chain::default() }));
        output.intervals.iter().map(|i| i.classes[0].offered).collect::<Vec<_>>()
    };
    assert_eq!(offered(16), offered(1000));
}
