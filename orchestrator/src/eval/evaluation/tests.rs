//! Assignments over real sessions.

use super::*;
use crate::body::Body;
use crate::judge::AnyJudge;
use crate::keeping::Keeping;
use crate::play::RewardMode;
use crate::sessions::House;
use crate::shelf::tests::laboratory;
use record::MemoryStore;
use serde_json::{Value, json};

const SCENARIO: &str = "lab/broken-release";
const SECRET: &str = "0123456789abcdef";

fn evaluation() -> Evaluation {
    let scenario = laboratory().load(SCENARIO).unwrap();
    let sessions = Sessions::new(House {
        tasks: [("task-of-all".to_string(), scenario)].into(),
        source: Body::Embedded.source().unwrap(),
        judge: AnyJudge::new(None, &Body::Embedded).unwrap(),
        store: Keeping::new(Arc::new(MemoryStore::default())),
        reward: RewardMode::Final,
        episodes_max: 9,
    });
    Evaluation::new(Arc::new(sessions), Secret::new(SECRET).unwrap())
}

fn key(seed: u64) -> AssignmentKey {
    let scenario = SCENARIO.to_string();
    let secret = Secret::new(SECRET).unwrap().fingerprint();
    AssignmentKey { evaluation: "e".into(), scenario, seed, repeat: 0, run: 0, secret }
}

async fn begin(evaluation: &Evaluation, task: Option<&str>, session: &str) -> Begun {
    let (task, session) = (task.map(String::from), Some(session.to_string()));
    evaluation.begin(Wish { task, seed: Some(1), session }).await.unwrap()
}

async fn step(evaluation: &Evaluation, begun: &Begun, action: Value) -> Result<Turn, Refusal> {
    evaluation.step(&begun.episode, action.as_object().unwrap().clone()).await
}

async fn assessment(evaluation: &Evaluation, task: &str) -> (Assessment, u32) {
    let Ended { outcome, later_resets } = evaluation.finish(task).await.unwrap();
    let Outcome::Scored(assessment) = outcome else { panic!("{outcome:?}") };
    (*assessment, later_resets)
}

#[tokio::test]
async fn an_attempt_is_paid_at_the_end_and_its_curve_ends_where_its_impact_does() {
    let evaluation = evaluation();
    let task = evaluation.assign(&key(3)).unwrap();
    assert_eq!(evaluation.assign(&key(3)).unwrap(), task, "the same key");
    let begun = begin(&evaluation, Some(&task), "x").await;
    assert_eq!(evaluation.watch(&task, Some(Standing::Open)).await, Some(Standing::Playing));
    let plan = [
        json!({"action": "rollback", "component": "web"}),
        json!({"action": "wait", "seconds": 60}),
        json!({"action": "resolve"}),
    ];
    let mut paid = Vec::new();
    for action in plan {
        paid.push(step(&evaluation, &begun, action).await.unwrap().reward);
    }
    assert_eq!(evaluation.watch(&task, Some(Standing::Playing)).await, Some(Standing::Over));
    let (assessment, later) = assessment(&evaluation, &task).await;
    assert_eq!((paid[0], paid[1], paid[2], later), (0.0, 0.0, assessment.score, 0));
    assert_eq!((assessment.end, assessment.steps, assessment.seconds), (Ending::Resolved, 3, 90));
    assert_eq!(assessment.world_seed, evaluation.secret().seed(SCENARIO, 3));
    let curves = &assessment.curves;
    for (curve, end) in [
        (&curves.agent, assessment.impact),
        (&curves.noop, assessment.impact_noop),
        (&curves.reference, assessment.impact_reference),
    ] {
        assert_eq!(curve.len(), curves.noop.len());
        assert!((*curve.last().unwrap() as f64 / 1000.0 - end).abs() < 0.001, "{curve:?} {end}");
    }
    assert!(curves.agent == curves.reference && assessment.score > 0.99, "{assessment:?}");
}

#[tokio::test]
async fn what_is_left_is_handed_off_at_that_tick() {
    let evaluation = evaluation();
    let tasks: Vec<_> = (0..4).map(|seed| evaluation.assign(&key(seed)).unwrap()).collect();
    // Left after a step, in the middle of things.
    let begun = begin(&evaluation, Some(&tasks[0]), "x").await;
    let rollback = json!({"action": "rollback", "component": "web"});
    step(&evaluation, &begun, rollback.clone()).await.unwrap();
    evaluation.forget(&begun.episode).await;
    let (left, _) = assessment(&evaluation, &tasks[0]).await;
    assert_eq!((left.end, left.steps, left.seconds), (Ending::Abandoned, 1, 30));
    assert!(left.score > 0.9, "the rollback counts: {left:?}");
    // Reset in the middle; what is played afterwards does not count.
    let begun = begin(&evaluation, Some(&tasks[1]), "x").await;
    step(&evaluation, &begun, json!({"action": "wait", "seconds": 600})).await.unwrap();
    let begun = begin(&evaluation, Some(&tasks[2]), "x").await;
    step(&evaluation, &begun, json!({"action": "wait", "seconds": 10})).await.unwrap();
    let again = begin(&evaluation, None, "x").await;
    assert_eq!((&again.task, &again.seen), (&begun.task, &begun.seen), "the same world");
    assert!(matches!(step(&evaluation, &begun, rollback.clone()).await, Err(Refusal::NotNow(_))));
    for action in [rollback, json!({"action": "resolve"})] {
        let turn = step(&evaluation, &again, action).await.unwrap();
        assert_eq!(turn.reward, 0.0, "practice pays nothing: {turn:?}");
    }
    let (horizon, _) = assessment(&evaluation, &tasks[1]).await;
    assert_eq!((horizon.end, horizon.score), (Ending::Horizon, 0.0));
    let (reset, later) = assessment(&evaluation, &tasks[2]).await;
    assert_eq!((reset.end, reset.seconds, reset.score, later), (Ending::Abandoned, 10, 0.0, 1));
    // Nobody came.
    let (absent, _) = assessment(&evaluation, &tasks[3]).await;
    assert_eq!((absent.end, absent.score, absent.steps), (Ending::Absent, 0.0, 0));
    assert_eq!(absent.curves.agent, absent.curves.noop);
    assert_eq!(evaluation.finish("task-0").await, None);
}

#[tokio::test]
async fn refusals_say_why() {
    let evaluation = evaluation();
    let wish = |task: Option<&str>, session: Option<&str>| Wish {
        task: task.map(String::from),
        seed: None,
        session: session.map(String::from),
    };
    for (wish, says) in [
        (wish(None, None), "without a session"),
        (wish(None, Some("x")), "no task is open now"),
        (wish(Some("task-1"), Some("x")), "no task `task-1` was given out"),
    ] {
        let refused = evaluation.begin(wish).await.unwrap_err();
        assert!(sentence(&refused).contains(says), "{refused:?}");
    }
    let unknown = evaluation.assign(&AssignmentKey { scenario: "lab/brokn".into(), ..key(0) });
    assert!(unknown.unwrap_err().to_string().contains(SCENARIO));
    let other = evaluation.assign(&AssignmentKey { secret: "x".into(), ..key(0) });
    assert!(other.unwrap_err().to_string().contains("another secret"));
    assert!(evaluation.catalogue().tasks.is_empty() && evaluation.catalogue().splits.is_empty());
}
