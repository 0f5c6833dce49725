//! What agents are shown, against what the engine has.

use super::*;
use crate::body::Body;
use crate::judge::AnyJudge;
use crate::keeping::Keeping;
use crate::play::RewardMode;
use crate::sessions::{House, Sessions};
use crate::shelf::tests::laboratory;
use crate::task_key::TaskKey;
use openenv::{Environment, Fields, Refusal, Wish};
use record::OffStore;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

fn gym() -> Gym {
    Gym::new(sessions())
}

fn sessions() -> Arc<Sessions> {
    let scenario = laboratory().load("lab/broken-release").unwrap();
    Arc::new(Sessions::new(House {
        tasks: [(TaskKey::default().task(&scenario.name), scenario)].into(),
        source: Body::Embedded.source().unwrap(),
        judge: AnyJudge::new(None, &Body::Embedded).unwrap(),
        store: Keeping::new(Arc::new(OffStore)),
        reward: RewardMode::Dense,
        episodes_max: 9,
    }))
}

fn fields(value: Value) -> Fields {
    value.as_object().unwrap().clone()
}

/// Names of the fields of a value against those of its schema, all the way down.
fn fits(value: &Value, schema: &Value, at: &str) {
    match value {
        Value::Object(fields) if schema["properties"].is_object() => {
            let has: BTreeSet<_> = fields.keys().collect();
            let said: BTreeSet<_> = schema["properties"].as_object().unwrap().keys().collect();
            assert_eq!(has, said, "{at}");
            assert_eq!(schema["required"].as_array().unwrap().len(), said.len(), "{at}");
            fields.iter().for_each(|(k, v)| fits(v, &schema["properties"][k], k));
        }
        Value::Array(items) => items.iter().for_each(|v| fits(v, &schema["items"], at)),
        _ => {}
    }
}

#[tokio::test]
async fn observations_are_what_their_schema_says() {
    let gym = gym();
    let schema = &gym.catalogue().observation;
    let begun = gym.begin(Wish { task: None, seed: Some(3), ..Wish::default() }).await.unwrap();
    let read = |seen: &openenv::Seen| serde_json::from_str::<Value>(seen.as_str()).unwrap();
    fits(&read(&begun.seen), schema, "the first observation");
    let action = fields(json!({"action": "status"}));
    let turn = gym.step(&begun.episode, action).await.unwrap();
    let seen = read(&turn.seen);
    fits(&seen, schema, "an observation");
    assert!(!seen["alerts"].as_array().unwrap().is_empty());
    assert!(seen["result"]["ok"].is_boolean() && turn.end.is_none());
    let turn = gym.step(&begun.episode, fields(json!({"action": "resolve"}))).await.unwrap();
    let end = turn.end.unwrap();
    assert_eq!((end.reason.as_str(), end.truncated), ("resolved", false));
    let reasons = schema["properties"]["done_reason"]["enum"].as_array().unwrap();
    for reason in record::EndReason::ALL {
        assert!(reasons.contains(&json!(reason.word())), "{}", reason.word());
    }
    gym.forget(&begun.episode).await;
    let gone = gym.step(&begun.episode, fields(json!({"action": "status"}))).await;
    assert_eq!(gone, Err(Refusal::Failed("the episode is gone: call reset".into())));
}

#[tokio::test]
async fn an_episode_that_somebody_else_ended_ends_for_its_agent() {
    let sessions = sessions();
    let gym = Gym::new(sessions.clone());
    let begun = gym.begin(Wish { task: None, seed: Some(3), ..Wish::default() }).await.unwrap();
    let wait = fields(json!({"action": "wait", "seconds": 30}));
    assert_eq!(gym.step(&begun.episode, wait.clone()).await.unwrap().end, None);
    sessions.hand_off(crate::ids::parse(&begun.episode).unwrap()).await.unwrap();
    let turn = gym.step(&begun.episode, wait).await.unwrap();
    let end = turn.end.expect("it is over");
    assert_eq!((end.reason.as_str(), end.truncated, turn.reward), ("abandoned", false, 0.0));
    assert!(turn.seen.as_str().contains("\"abandoned\""), "{:?}", turn.seen);
}

#[tokio::test]
async fn a_first_observation_is_a_function_of_task_and_seed() {
    let gym = gym();
    let begin = async |seed: u64| {
        let begun =
            gym.begin(Wish { task: None, seed: Some(seed), ..Wish::default() }).await.unwrap();
        gym.forget(&begun.episode).await;
        (begun.task, begun.seen)
    };
    let mut seen = Vec::new();
    for seed in [0, 1, 2, 1 << 53, (1 << 53) + 1, openenv::options::SEED_MAX] {
        let first = begin(seed).await;
        assert_eq!(first, begin(seed).await, "{seed}");
        assert!(!seen.contains(&first), "{seed} is no world of its own");
        seen.push(first);
    }
}

#[tokio::test]
async fn what_does_not_fit_is_said_field_by_field() {
    let gym = gym();
    let begun = gym.begin(Wish { task: None, seed: Some(3), ..Wish::default() }).await.unwrap();
    for (action, kind, loc, says) in [
        (json!({}), "missing", "action", "expected one of"),
        (json!({"action": "restrat"}), "literal_error", "action", "did you mean `restart`"),
        (json!({"action": "restart"}), "missing", "component", "restart"),
        (json!({"action": "restart", "component": "webb"}), "value_error", "component", "`web`"),
        (
            json!({"action": "status", "color": "red"}),
            "extra_forbidden",
            "color",
            "expected component",
        ),
        (json!({"action": "wait", "seconds": -1}), "value_error", "seconds", "wait"),
    ] {
        let refused = gym.step(&begun.episode, fields(action.clone())).await.unwrap_err();
        let Refusal::Invalid(items) = refused else { panic!("{action}: {refused:?}") };
        let item = &items[0];
        assert_eq!((item.kind, &item.loc[..]), (kind, &[loc.into()][..]), "{action}: {item:?}");
        assert!(item.msg.contains(says), "{action}: {item:?}");
    }
    let unknown =
        gym.begin(Wish { task: Some("task-0".into()), ..Wish::default() }).await.unwrap_err();
    let Refusal::Invalid(items) = unknown else { panic!("{unknown:?}") };
    assert!(items[0].msg.contains("expected one of task-"), "{items:?}");
}

#[test]
fn every_action_is_a_tool_and_splits_do_not_overlap() {
    let all = catalogue(std::iter::empty());
    let names: Vec<_> = all.tools.iter().map(|tool| tool.name.as_str()).collect();
    let actions: Vec<_> = action::all().iter().map(|spec| spec.name).collect();
    assert_eq!(names, actions);
    assert!(["reset", "step", "state", "close"].iter().all(|kept| !names.contains(kept)));
    assert!(all.tools.iter().all(|tool| tool.description.contains("Takes ")));
    for pair in all.splits.windows(2) {
        assert!(pair[0].last < pair[1].first && pair[1].listed <= SEEDS_PER_SPLIT);
    }
}
