//! The truth never reaches the agent: nothing that it can be shown names a fault, a lever, a
//! grading term, a scenario, or the canary that is planted in the truth.

use crate::common::{all_scenarios, run};
use action::Action;
use episode::Episode;
use fleet::EmbeddedFleet;
use model::{EpisodeId, Params};
use scenario::Scenario;
use scenario::resolved::CANARY;

/// Words that must not be seen.
fn forbidden(scenario: &Scenario) -> Vec<String> {
    let mut words = vec![CANARY.to_string(), scenario.name.clone(), scenario.title.clone()];
    words.extend(scenario.name.split('/').next_back().map(str::to_string));
    // A fault's name is a noun phrase: those that are one common word would be seen in any log.
    words.extend(fault::all().iter().map(|f| f.name.to_string()).filter(|n| n.contains('_')));
    let levers = fleet::kinds().iter().flat_map(|k| k.levers());
    words.extend(levers.map(|l| l.name.to_string()));
    words.extend(["agent_phase", "restraint", "wrong plan", "palliative"].map(String::from));
    words.extend(scenario.truth.evidence.iter().map(|e| e.shows.clone()));
    words.extend(scenario.truth.wrong.iter().map(|w| w.why.clone()));
    words
}

/// Everything that can be read, of every component.
fn reads(scenario: &Scenario) -> Vec<Action> {
    let of = |name: &str, params: Params| Action::new(name, &params).expect("fits");
    let mut all = vec![
        of("topology", Params::default()),
        of("status", Params::default()),
        of("changes", Params::default().with("minutes", 30.0)),
        of("traces", Params::default()),
    ];
    for instance in &scenario.topology.instances {
        let component = || Params::default().with("component", instance.name.as_str());
        all.push(of("logs", component().with("minutes", 30.0)));
        all.push(of("metrics", component()));
        all.push(of("config", component()));
    }
    all
}

#[test]
fn nothing_that_the_agent_is_shown_names_the_truth() {
    for scenario in all_scenarios() {
        let kinds = fleet::kinds();
        let fleet = EmbeddedFleet::new(kinds);
        let mut episode =
            Episode::prepare(fleet, kinds, scenario.clone(), EpisodeId(1), 5, 1).unwrap();
        let mut shown = String::new();
        run(async {
            episode.begin().await.unwrap();
            shown += &serde_json::to_string(&episode.observe(None)).unwrap();
            let mut plan = reads(&scenario);
            plan.extend(scenario.truth.reference.clone());
            plan.extend(reads(&scenario));
            for action in plan {
                if episode.ended().is_some() {
                    break;
                }
                let reply = episode.step(&action).await.unwrap();
                shown += &serde_json::to_string(&reply.observation).unwrap();
            }
        });
        assert!(shown.len() > 20_000, "something was shown");
        let shown = shown.to_lowercase();
        for word in forbidden(&scenario) {
            assert!(!shown.contains(&word.to_lowercase()), "{}: {word:?} leaks", scenario.name);
        }
    }
}
