//! Laws of the agents.

use super::{all, find};
use crate::agent::Start;
use crate::shelf::tests::laboratory;
use action::{Action, ActionClass};
use episode::Episode;
use fleet::EmbeddedFleet;
use futures_util::FutureExt;
use model::EpisodeId;
use std::collections::BTreeSet;

/// Every file of a folder is in its list, and the other way round.
pub(crate) fn assert_listed(folder: &str, list: &[&str]) {
    let stems = std::fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        path.file_stem().unwrap().to_str().unwrap().to_string()
    });
    let files: BTreeSet<_> = stems.filter(|stem| stem != "mod" && stem != "tests").collect();
    assert_eq!(list.iter().map(ToString::to_string).collect::<BTreeSet<_>>(), files);
}

#[test]
fn the_list_is_the_folder() {
    assert_listed(concat!(env!("CARGO_MANIFEST_DIR"), "/src/agents"), super::FILES);
    for (spec, file) in all().iter().zip(super::FILES) {
        assert_eq!(spec.name.replace('-', "_"), *file);
    }
}

/// The actions that an agent takes until the episode is over.
fn played(agent: &str, seed: u64) -> (Vec<Action>, Vec<u32>) {
    let scenario = laboratory().load("lab/broken-release").unwrap();
    let kinds = fleet::kinds();
    let fleet = EmbeddedFleet::new(kinds);
    let mut episode =
        Episode::prepare(fleet, kinds, scenario.clone(), EpisodeId(1), seed, 1).unwrap();
    episode.begin().now_or_never().unwrap().unwrap();
    let noise = episode.noise_for("agent");
    let mut agent = (find(agent).unwrap().make)(Start { scenario: &scenario, noise });
    let (mut actions, mut steps_left) = (Vec::new(), Vec::new());
    let mut seen = episode.observe(None);
    while !seen.done {
        steps_left.push(seen.steps_left);
        let action = agent.act(&seen, &episode.site());
        seen = episode.step(&action).now_or_never().unwrap().unwrap().observation;
        actions.push(action);
    }
    (actions, steps_left)
}

#[test]
fn every_agent_ends_every_episode_with_actions_that_fit_and_does_the_same_again() {
    for spec in all() {
        let (actions, _) = played(spec.name, 3);
        assert!(!actions.is_empty(), "{}", spec.name);
        assert_eq!(actions, played(spec.name, 3).0, "{}", spec.name);
        assert!(spec.doc.ends_with('.'));
    }
}

#[test]
fn at_least_half_of_what_random_does_mutates_and_it_resolves_only_at_the_end() {
    for seed in 0..10 {
        let (actions, _) = played("random", seed);
        let end = actions.iter().position(|a| a.name() == "resolve").unwrap_or(actions.len());
        assert!(end >= actions.len() - 1, "{end} of {}", actions.len());
        let acted = &actions[..end];
        let mutating = acted.iter().filter(|a| a.spec().class == ActionClass::Mutate).count();
        assert!(mutating * 2 >= acted.len(), "{mutating} of {}", acted.len());
        assert!(acted.iter().any(|a| a.spec().class == ActionClass::Read), "it looks, too");
        assert_ne!(actions, played("random", seed + 100).0, "dice differ by seed");
    }
}

#[test]
fn noop_only_waits() {
    assert!(played("noop", 0).0.iter().all(|action| action.name() == "wait"));
}

#[test]
fn reflexes_do_what_their_names_say_and_resolve() {
    for (agent, action, least) in [
        ("restart-all", "restart", 2),
        ("rollback-all", "rollback", 1),
        ("scale-all", "scale", 2),
        ("shed-half", "shed", 2),
    ] {
        let (actions, _) = played(agent, 0);
        let (last, plan) = actions.split_last().unwrap();
        assert_eq!(last.name(), "resolve", "{agent}");
        assert!(plan.iter().filter(|a| a.name() == action).count() >= least, "{agent}: {plan:?}");
        assert!(plan.iter().all(|a| a.name() == action || a.name() == "wait"), "{agent}");
    }
    let (shed, _) = played("shed-half", 0);
    let spent: u32 = shed[..2].iter().map(Action::duration_s).sum();
    assert_eq!(spent, 300);
}

#[test]
fn unknown_agents_are_answered_with_the_nearest() {
    assert!(find("refrence").unwrap_err().contains("did you mean `reference`"));
}
