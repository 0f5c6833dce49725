//! Laws of grading: the reference scores 1 and nobody's doing 0; rewards sum to the score; users
//! who were turned away count, the tail counts, and the worlds are not mistaken for each other.

use crate::common::{all_scenarios, run};
use action::Action;
use episode::{Episode, Grade, Judge, Purse};
use fleet::EmbeddedFleet;
use grader::LocalJudge;
use model::{EpisodeId, Params};
use scenario::Scenario;
use std::sync::Arc;

fn action(name: &str, params: Params) -> Action {
    Action::new(name, &params).expect("fits")
}

fn wait(seconds: f64) -> Action {
    action("wait", Params::default().with("seconds", seconds))
}

/// Plays a plan and then resolves; the rewards and the grade.
fn play(scenario: &Arc<Scenario>, plan: &[Action]) -> (Vec<f64>, Grade) {
    let kinds = fleet::kinds();
    let judge = LocalJudge::new(kinds);
    let fleet = EmbeddedFleet::new(kinds);
    let mut episode = Episode::prepare(fleet, kinds, scenario.clone(), EpisodeId(1), 2, 1).unwrap();
    run(async {
        episode.begin().await.unwrap();
        let (mut purse, mut rewards) = (Purse::default(), Vec::new());
        let resolve = action("resolve", Params::default());
        for step in plan.iter().chain([&resolve]) {
            if episode.ended().is_some() {
                break;
            }
            episode.step(step).await.unwrap();
            let (reward, grade) = episode.reward(&judge, &mut purse).await.unwrap();
            rewards.push(reward);
            if let Some(grade) = grade {
                return (rewards, grade);
            }
        }
        panic!("the episode did not end");
    })
}

fn faults() -> impl Iterator<Item = Arc<Scenario>> {
    all_scenarios().into_iter().filter(|s| !s.healthy)
}

#[test]
fn the_reference_scores_one_and_doing_nothing_zero_and_worlds_are_not_swapped() {
    for scenario in all_scenarios() {
        let name = &scenario.name;
        let (rewards, reference) = play(&scenario, &scenario.truth.reference);
        let (_, noop) = play(&scenario, &[]);
        assert!(reference.score > 0.995, "{name}: reference {reference:?}");
        let sum: f64 = rewards.iter().sum();
        assert!((sum - reference.score).abs() < 1e-9, "{name}: {sum} {}", reference.score);
        let terms: f64 = reference.terms.iter().map(|t| t.value).sum();
        assert!((terms - reference.score).abs() < 1e-9, "{name}: terms add up");
        if scenario.healthy {
            assert_eq!(noop.score, 1.0, "{name}");
        } else {
            assert_eq!(noop.score, 0.0, "{name}: {noop:?}");
            assert!(reference.impact < noop.impact, "{name}: worlds are not swapped");
            assert!((noop.impact - noop.impact_noop).abs() < 1e-6, "{name}");
            assert!((reference.impact - reference.impact_reference).abs() < 1e-6, "{name}");
        }
    }
}

/// Everybody turned away at the entry for the rest of the episode: worse than any fault.
#[test]
fn users_who_are_turned_away_count() {
    for scenario in faults().take(4) {
        let entry = scenario.topology.edges[0].to;
        let entry = scenario.topology.instances[entry.at()].name.clone();
        let shed = Params::default().with("component", entry).with("ratio", 1.0);
        let (_, grade) = play(&scenario, &[action("shed", shed), wait(300.0)]);
        let name = &scenario.name;
        assert!(grade.impact > grade.impact_noop, "{name}: {grade:?}");
        assert_eq!(grade.score, 0.0, "{name}");
    }
}

/// The reference, and then everybody turned away just before leaving: the harm is in the tail.
#[test]
fn what_happens_after_the_agent_left_counts() {
    for scenario in faults().take(4) {
        let entry = scenario.topology.edges[0].to;
        let entry = scenario.topology.instances[entry.at()].name.clone();
        let shed = Params::default().with("component", entry).with("ratio", 1.0);
        let mut plan = scenario.truth.reference.clone();
        let (_, good) = play(&scenario, &plan);
        plan.push(action("shed", shed));
        let (_, bad) = play(&scenario, &plan);
        let name = &scenario.name;
        assert!(bad.score < good.score - 0.3, "{name}: {} {}", bad.score, good.score);
    }
}

/// Baselines do not depend on what the agent did, and a judge's cache gives the same ones.
#[test]
fn baselines_are_functions_of_scenario_seed_and_control_inputs() {
    let kinds = fleet::kinds();
    let judge = LocalJudge::new(kinds);
    for scenario in faults().take(2) {
        let mut both = Vec::new();
        for plan in [vec![], vec![wait(200.0), wait(100.0)]] {
            let fleet = EmbeddedFleet::new(kinds);
            let mut episode =
                Episode::prepare(fleet, kinds, scenario.clone(), EpisodeId(1), 8, 1).unwrap();
            both.push(run(async {
                episode.begin().await.unwrap();
                for action in &plan {
                    episode.step(action).await.unwrap();
                }
                judge.baselines(&scenario, episode.record()).await.unwrap()
            }));
        }
        assert!(Arc::ptr_eq(&both[0], &both[1]), "made once");
        let length = scenario.timing.end.0 as usize + 1;
        assert_eq!((both[0].noop.len(), both[0].reference.len()), (length, length));
        assert!(both[0].noop.is_sorted(), "cumulative");
    }
}
