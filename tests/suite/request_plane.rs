//! Many requests of the request plane agree with the flow plane: success rate, p50 and p95 in calm
//! ticks, and the success rate over the ten ticks after an onset.

use crate::common::{calm, run, soak};
use episode::{ControlOrder, Episode};
use fleet::{EmbeddedFleet, Fleet};
use model::{Code, EpisodeId, LeverPull, Noise, Params, Report, Tick};
use scenario::Library;
use std::sync::Arc;

/// Requests per tick; the full count is for the soak.
fn requests() -> u64 {
    if soak() { 4000 } else { 600 }
}

const CALM_TICKS: usize = 20;
const ONSET_TICKS: usize = 10;

/// What requests of a class came to in one tick.
struct Sample {
    success: f64,
    p50: f64,
    p95: f64,
}

fn sample(episode: &Episode<EmbeddedFleet>, class: usize) -> Sample {
    let tick = episode.tick();
    let noise = Noise::root(99).branch("requests").index(tick.0 as u64).index(class as u64);
    let mut times = Vec::new();
    for n in 0..requests() {
        let mut hop = episode.hop(class, tick, noise.bits(n as i64));
        hop.sampled = false;
        let reply = run(episode.fleet().request(&hop)).expect("a reply");
        if reply.code == Code::Ok && reply.latency_s <= hop.deadline_s {
            times.push(reply.latency_s);
        }
    }
    let success = times.len() as f64 / requests() as f64;
    times.sort_by(f64::total_cmp);
    let quantile = |q: f64| times.get((q * times.len() as f64) as usize).copied().unwrap_or(0.0);
    Sample { success, p50: quantile(0.5), p95: quantile(0.95) }
}

/// What the flow plane says of the same: the entry's report.
fn flow(episode: &Episode<EmbeddedFleet>, class: usize, patience_s: f64) -> Sample {
    let topology = &episode.scenario().topology;
    let entry = topology.edges[topology.classes[class].entry.at()].to;
    let r: Report = episode.fleet().instances()[entry.at()].outbox().report;
    let (mean, var) = (r.class_mean_s[class], r.class_var_s2[class]);
    let in_time = 1.0 - flow::timeout_prob(mean, var, patience_s);
    let accepted = (1.0 - r.refused) * (1.0 - r.turned_away[class]);
    Sample {
        success: accepted * (1.0 - r.failed[class]) * in_time,
        p50: flow::quantile(mean, var, 0.0),
        p95: flow::quantile(mean, var, 1.645),
    }
}

fn shop(seed: u64) -> Episode<EmbeddedFleet> {
    let kinds = fleet::kinds();
    let fleet = EmbeddedFleet::new(kinds);
    let mut episode = Episode::prepare(fleet, kinds, calm(), EpisodeId(1), seed, 1).expect("fits");
    run(episode.begin()).expect("begun");
    episode
}

#[test]
fn in_calm_ticks_success_and_quantiles_agree() {
    let mut shop = shop(3);
    let classes = shop.scenario().topology.classes.clone();
    for _ in 0..CALM_TICKS {
        let next = shop.tick().plus(1);
        run(shop.play_to(next)).expect("played");
        for (c, class) in classes.iter().enumerate() {
            let (drawn, said) = (sample(&shop, c), flow(&shop, c, class.patience_s));
            let p = said.success.clamp(1e-6, 1.0 - 1e-6);
            let sigma = (p * (1.0 - p) / requests() as f64).sqrt();
            let (name, at) = (&class.name, shop.tick());
            let gap = (drawn.success - said.success).abs();
            assert!(gap <= 4.0 * sigma + 0.01, "{name} {at}: {} {p}", drawn.success);
            // Sampling error of a quantile shrinks with the count: the bands are for 4,000.
            let slack = (4000.0 / requests() as f64).sqrt();
            let (p50, p95) = (drawn.p50 / said.p50 - 1.0, drawn.p95 / said.p95 - 1.0);
            assert!(p50.abs() <= 0.10 + 0.02 * (slack - 1.0), "{name} {at}: p50 off by {p50:.3}");
            assert!(p95.abs() <= 0.20 + 0.03 * (slack - 1.0), "{name} {at}: p95 off by {p95:.3}");
        }
    }
}

/// A lever of a component, or of the edge between two.
fn pull(shop: &Episode<EmbeddedFleet>, on: &str, lever: &str, args: Params) -> LeverPull {
    let topology = &shop.scenario().topology;
    let (from, edge) = match on.split_once(" -> ") {
        Some((from, to)) => (from, topology.edge(from, to).map(|e| e.id)),
        None => (on, None),
    };
    let target = topology.instance(from).expect("a component");
    LeverPull { id: 1 << 33, target, edge, lever: lever.into(), args }
}

#[test]
fn over_the_ten_ticks_after_an_onset_the_mean_difference_is_small() {
    let args = Params::default;
    let onsets: [(&str, &str, Params); 7] = [
        ("orders-db", "server.slow", args().with("factor", 6.0)),
        ("shop", "server.version", args().with("errors", 0.3)),
        ("payment", "payment.provider_slow", args().with("factor", 40.0)),
        ("shop -> orders-db", "edge.loss", args().with("ratio", 0.2)),
        ("gateway -> auth", "edge.partition", args()),
        ("gateway -> auth", "edge.latency", args().with("delay", 0.7)),
        ("gateway", "gateway.rate_limit", args().with("rps", 200.0)),
    ];
    for (on, lever, args) in onsets {
        let mut shop = shop(4);
        run(shop.play_to(Tick(30))).expect("played");
        let before = flow(&shop, 2, 8.0).success;
        let order = ControlOrder::Inject(vec![pull(&shop, on, lever, args)]);
        run(shop.control(&order)).expect("injected");
        let classes = shop.scenario().topology.classes.clone();
        let (mut gap, mut least) = (0.0, 1.0_f64);
        for _ in 0..ONSET_TICKS {
            let next = shop.tick().plus(1);
            run(shop.play_to(next)).expect("played");
            for (c, class) in classes.iter().enumerate() {
                let (drawn, said) = (sample(&shop, c), flow(&shop, c, class.patience_s));
                gap += (drawn.success - said.success).abs();
                least = least.min(said.success);
            }
        }
        gap /= (ONSET_TICKS * classes.len()) as f64;
        assert!(before - least > 0.01, "{lever} on {on} does something: {before} {least}");
        assert!(gap <= 0.10, "{lever} on {on}: mean difference {gap:.3}");
    }
}

/// A market whose carrier allows too few calls; its cache is warm.
fn market(seed: u64) -> Episode<EmbeddedFleet> {
    let kinds = fleet::kinds();
    let found = scenario::load(&Library::shipped(), "dependency/quota-cut", &kinds);
    let scenario = found.unwrap_or_else(|error| panic!("{error}"));
    let fleet = EmbeddedFleet::new(kinds);
    let id = EpisodeId(1);
    let mut market = Episode::prepare(fleet, kinds, Arc::new(scenario), id, seed, 1).expect("fits");
    run(market.begin()).expect("begun");
    market
}

#[test]
fn a_cache_asks_its_store_for_misses_only_and_a_quota_turns_away_on_both_planes() {
    let mut market = market(3);
    let next = market.tick().plus(30);
    run(market.play_to(next)).expect("played");
    let topology = &market.scenario().topology;
    let store = topology.instance("catalog-db").expect("the store");
    let cache = topology.instance("catalog-cache").expect("the cache");
    let fetch = topology.edge("catalog-cache", "catalog-db").expect("an edge").id;
    let out = market.fleet().instances()[cache.at()].outbox();
    let fetches: f64 = out.calls.iter().find(|c| c.edge == fetch).expect("calls").rate.iter().sum();
    let lookups = market.fleet().instances()[cache.at()].outbox().report.offered;
    let noise = Noise::root(7).branch("requests");
    let mut drawn = 0_usize;
    for n in 0..requests() {
        // Visitors who browse look three things up.
        let hop = market.hop(0, market.tick(), noise.bits(n as i64));
        let reply = run(market.fleet().request(&hop)).expect("a reply");
        drawn += reply.spans.iter().filter(|s| s.instance == store && !s.client).count();
    }
    let (drawn, said) = (drawn as f64 / requests() as f64, 3.0 * fetches / lookups);
    let sigma = (said / requests() as f64).sqrt();
    assert!(said > 0.05 && said < 0.5, "{said} fetches per visit");
    assert!((drawn - said).abs() < 4.0 * sigma + 0.02, "{drawn} of {said}");
    // Visitors of an item ask the carrier.
    let (drawn, said) = (sample(&market, 1), flow(&market, 1, 4.0));
    assert!(said.success < 0.95, "{}", said.success);
    assert!((drawn.success - said.success).abs() < 0.06, "{} {}", drawn.success, said.success);
}
