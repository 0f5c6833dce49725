//! A component that comes back empty in mid-episode is healed by a replay of the record, and the
//! episode goes on with the same digests.

use crate::common::{all_scenarios, plan, run, soak};
use episode::Episode;
use fleet::{EmbeddedFleet, Fleet, Links, RemoteConfig, RemoteFleet};
use model::{EpisodeId, Noise};

/// Losses per scenario: in the soak one before each step.
fn losses() -> u64 {
    if soak() { 8 } else { 1 }
}

#[test]
fn emptied_components_change_no_digest() {
    for scenario in all_scenarios() {
        let seed = 11;
        let plan = plan(&scenario, seed);
        let kinds = fleet::kinds();
        let id = EpisodeId(3);
        let links = Links::in_memory(fleet::parts(), chassis::Limits::default());
        let remote = RemoteFleet::new(links.clone(), RemoteConfig::default());
        let mut lossy = Episode::prepare(remote, kinds, scenario.clone(), id, seed, 1).unwrap();
        let embedded = EmbeddedFleet::new(kinds);
        let mut calm = Episode::prepare(embedded, kinds, scenario.clone(), id, seed, 1).unwrap();
        run(async {
            lossy.begin().await.unwrap();
            calm.begin().await.unwrap();
            let dice = Noise::root(seed).branch(&scenario.name);
            let first = dice.bits(0) % plan.len() as u64;
            for (n, action) in plan.iter().enumerate() {
                if calm.ended().is_some() {
                    break;
                }
                let due = (n as u64 + plan.len() as u64 - first) % (plan.len() as u64);
                if due < losses() {
                    let desk = dice.bits(n as i64) as usize % links.desks().len();
                    links.desks()[desk].household.forget(id, 1).unwrap();
                }
                let a = lossy.step(action).await.unwrap();
                let b = calm.step(action).await.unwrap();
                assert_eq!(a, b, "{} step {n}", scenario.name);
            }
            let (a, b) = (lossy.fleet().save().await.unwrap(), calm.fleet().save().await.unwrap());
            assert_eq!(a.snapshots, b.snapshots, "{}", scenario.name);
        });
        assert_eq!(lossy.record().to_jsonl(), calm.record().to_jsonl(), "{}", scenario.name);
    }
}
