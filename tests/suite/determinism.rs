//! Each seed twice, with one and with several threads, and embedded against in-memory gRPC: equal
//! digests at every tick and equal record bytes. Runs first in CI.

use crate::common::{all_scenarios, plan, run, soak};
use action::Action;
use episode::{Episode, External};
use fleet::{EmbeddedFleet, Fleet, Links, RemoteConfig, RemoteFleet};
use model::{Digest, EpisodeId};
use scenario::Scenario;
use std::sync::Arc;

/// One row of the suite.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) seed: u64,
    pub(crate) plan: Vec<Action>,
}

/// What a body left behind.
#[derive(Debug, PartialEq)]
pub(crate) struct Left {
    ticks: Vec<Digest>,
    record: String,
    reads: String,
}

impl Left {
    /// All observations, as JSON one after another.
    pub(crate) fn reads(&self) -> &str {
        &self.reads
    }
}

pub(crate) fn rows() -> Vec<Row> {
    let scenarios = all_scenarios();
    let seeds = if soak() { 60_usize.div_ceil(scenarios.len()) } else { 1 };
    let mut rows = Vec::new();
    for seed in 0..seeds as u64 {
        for scenario in &scenarios {
            let plan = plan(scenario, seed);
            rows.push(Row { scenario: scenario.clone(), seed, plan });
        }
    }
    rows
}

pub(crate) async fn play<F: Fleet>(fleet: F, row: &Row) -> Left {
    let kinds = fleet::kinds();
    let mut episode =
        Episode::prepare(fleet, kinds, row.scenario.clone(), EpisodeId(7), row.seed, 1)
            .expect("fits");
    episode.keep_tick_digests();
    episode.begin().await.expect("begun");
    let mut reads = String::new();
    for action in &row.plan {
        if episode.ended().is_none() {
            let reply = episode.step(action).await.expect("stepped");
            reads += &serde_json::to_string(&reply.observation).expect("json");
        }
    }
    let ticks = episode.tick_digests().to_vec();
    // Processes that play several rows hold each under the same id.
    episode.fleet_mut().drop_episode().await.expect("dropped");
    Left { ticks, record: episode.record().to_jsonl(), reads }
}

pub(crate) fn embedded(row: &Row) -> Left {
    run(play(EmbeddedFleet::new(fleet::kinds()), row))
}

fn in_memory(row: &Row) -> Left {
    let links = Links::in_memory(fleet::parts(), chassis::Limits::default());
    run(play(RemoteFleet::new(links, RemoteConfig::default()), row))
}

#[track_caller]
pub(crate) fn assert_equal(row: &Row, a: &Left, b: &Left) {
    let name = format!("{} seed {}", row.scenario.name, row.seed);
    assert_eq!(a.ticks.len(), b.ticks.len(), "{name}");
    let apart = a.ticks.iter().zip(&b.ticks).position(|(a, b)| a != b);
    assert_eq!(apart, None, "{name}: first tick that differs, from the start of the warm-up");
    assert!(a.ticks.len() > 300, "{name}: the warm-up and more was played");
    assert_eq!(a.reads, b.reads, "{name}");
    assert_eq!(a.record, b.record, "{name}");
}

#[test]
fn each_seed_twice_and_with_several_threads() {
    let rows = rows();
    let once: Vec<_> = rows.iter().map(embedded).collect();
    let mut again: Vec<Option<Left>> = rows.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        for (rows, lefts) in rows.chunks(3).zip(again.chunks_mut(3)) {
            scope.spawn(move || {
                for (row, left) in rows.iter().zip(lefts) {
                    *left = Some(embedded(row));
                }
            });
        }
    });
    for ((row, a), b) in rows.iter().zip(&once).zip(&again) {
        assert_equal(row, a, b.as_ref().expect("played"));
    }
    // Other seeds are other worlds.
    let digests: std::collections::BTreeSet<_> =
        once.iter().filter_map(|l| l.ticks.last()).collect();
    assert_eq!(digests.len(), rows.len());
}

#[test]
fn embedded_equals_in_memory_grpc() {
    for row in rows() {
        assert_equal(&row, &embedded(&row), &in_memory(&row));
    }
}

#[test]
fn a_record_plays_again_to_its_own_bytes_and_digests() {
    for row in rows() {
        let left = embedded(&row);
        let record = record::Record::from_jsonl(left.record.as_bytes()).expect("reads");
        let fleet = EmbeddedFleet::new(fleet::kinds());
        let again = run(Episode::resume(fleet, fleet::kinds(), &record, 1)).expect("resumed");
        assert_eq!(again.record().to_jsonl(), left.record, "{}", row.scenario.name);
        for input in record.inputs() {
            assert!(matches!(External::of(input), Ok(External::Action(_))));
        }
    }
}
