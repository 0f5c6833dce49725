//! Sessions over stores of every kind: the same episode, whatever happens to its process.

use super::*;
use crate::body::Body;
use crate::shelf::tests::laboratory;
use crate::task_key::TaskKey;
use record::{Answer, MemoryStore, OffStore, ServerTrouble, Store};
use std::sync::atomic::{AtomicBool, Ordering};

fn sessions(store: Arc<dyn Store>, episodes_max: usize) -> Sessions {
    let scenario = laboratory().load("lab/broken-release").unwrap();
    Sessions::new(House {
        tasks: [(TaskKey::default().task(&scenario.name), scenario)].into(),
        source: Body::Embedded.source().unwrap(),
        judge: AnyJudge::new(None, &Body::Embedded).unwrap(),
        store: Keeping::new(store),
        reward: RewardMode::Dense,
        episodes_max,
    })
}

fn task() -> String {
    TaskKey::default().task("lab/broken-release")
}

const PLAN: [&str; 4] = [
    r#"{"action":"set_policy","component":"gateway","callee":"web","retries":0}"#,
    r#"{"action":"metrics","component":"web"}"#,
    r#"{"action":"rollback","component":"web"}"#,
    r#"{"action":"resolve"}"#,
];

#[tokio::test]
async fn an_episode_goes_on_in_another_process_as_if_nothing_had_been() {
    let (whole, broken): (Arc<dyn Store>, Arc<dyn Store>) =
        (Arc::new(MemoryStore::new()), Arc::new(MemoryStore::new()));
    let calm = sessions(whole.clone(), 9);
    let (id, first) = calm.create(&task(), Some(7)).await.unwrap();
    let mut expected = vec![first];
    let mut rewards = Vec::new();
    for action in PLAN {
        let stepped = calm.step(id, None, action.as_bytes()).await.unwrap();
        expected.push(stepped.observation);
        rewards.push(stepped.reward);
    }
    let mut process = sessions(broken.clone(), 9);
    let (other, first) = process.create(&task(), Some(7)).await.unwrap();
    assert_eq!(first, expected[0]);
    for (at, action) in PLAN.iter().enumerate() {
        // The process ends and another one is started.
        process = sessions(broken.clone(), 9);
        let seen = process.observe(other).await.unwrap();
        assert_eq!((seen.step, seen.seconds), (at as u32, expected[at].seconds));
        let number = Some(at as u32 + 1);
        let stepped = process.step(other, number, action.as_bytes()).await.unwrap();
        assert_eq!(stepped.observation, expected[at + 1]);
        assert_eq!(stepped.reward, rewards[at]);
    }
    let worlds = |record: Record| record.steps().map(|s| s.world).collect::<Vec<_>>();
    assert_eq!(worlds(whole.load(id).unwrap()), worlds(broken.load(other).unwrap()));
    process = sessions(broken, 9);
    let (grade, same) = (calm.score(id).await.unwrap(), process.score(other).await.unwrap());
    assert_eq!(grade, same);
    assert!((rewards.iter().sum::<f64>() - grade.score).abs() < 1e-12);
}

#[tokio::test]
async fn a_session_that_its_client_closed_is_over_wherever_it_is_asked_for() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (here, elsewhere) = (sessions(store.clone(), 9), sessions(store, 9));
    let (id, _) = here.create_in(&task(), Some(7), Some("s".into())).await.unwrap();
    here.step(id, None, PLAN[0].as_bytes()).await.unwrap();
    here.leave(id).await;
    assert_eq!(elsewhere.of_session("s").await.unwrap(), Some((id, task())));
    let seen = elsewhere.observe(id).await.unwrap();
    assert_eq!((seen.step, seen.done_reason.as_deref()), (1, Some("abandoned")));
    let late = elsewhere.step(id, None, PLAN[1].as_bytes()).await;
    assert!(matches!(late, Err(SessionError::NotNow(_))), "{late:?}");
    // What another process goes on with is not ended by the one that had it before.
    let (moved, _) = here.create_in(&task(), Some(8), Some("t".into())).await.unwrap();
    elsewhere.step(moved, None, PLAN[0].as_bytes()).await.unwrap();
    here.leave(moved).await;
    assert_eq!(elsewhere.step(moved, None, PLAN[1].as_bytes()).await.unwrap().observation.step, 2);
}

#[tokio::test]
async fn the_former_owner_of_an_episode_writes_no_more() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (old, new) = (sessions(store.clone(), 9), sessions(store.clone(), 9));
    let (id, _) = old.create(&task(), Some(1)).await.unwrap();
    new.step(id, None, PLAN[0].as_bytes()).await.unwrap();
    let refused = old.step(id, Some(1), PLAN[2].as_bytes()).await.unwrap_err();
    assert!(matches!(refused, SessionError::Failed { .. }), "{refused}");
    assert_eq!(store.load(id).unwrap().steps().count(), 1);
    // It asks the store again, and takes the episode back with what happened meanwhile.
    let late = old.step(id, Some(1), PLAN[2].as_bytes()).await.unwrap_err();
    assert!(late.to_string().contains("the next step is number 2"), "{late}");
    old.step(id, Some(2), PLAN[2].as_bytes()).await.unwrap();
}

#[tokio::test]
async fn a_former_owner_answers_with_what_has_become_of_the_episode() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (old, new) = (sessions(store.clone(), 9), sessions(store.clone(), 9));
    let (id, _) = old.create(&task(), Some(1)).await.unwrap();
    let seen = new.step(id, None, PLAN[0].as_bytes()).await.unwrap().observation;
    let looked = old.observe(id).await.unwrap();
    assert_eq!((looked.step, looked.seconds), (1, seen.seconds));
    // Whoever is asked is the owner from then on.
    assert_eq!(store.owner(id), Ok(3));
    let number = Some(2);
    new.step(id, number, PLAN[2].as_bytes()).await.unwrap_err();
    new.step(id, number, PLAN[2].as_bytes()).await.unwrap();
    old.step(id, Some(3), PLAN[3].as_bytes()).await.unwrap();
    assert_eq!(new.score(id).await.unwrap(), old.score(id).await.unwrap());
    assert_eq!(store.load(id).unwrap().check(), Ok(()));
    store.prune(&record::Prune { episodes: Some(vec![id]), ..record::Prune::default() }).unwrap();
    let (other, _) = old.create(&task(), Some(1)).await.unwrap();
    store.prune(&record::Prune { keep_newest: Some(0), ..record::Prune::default() }).unwrap();
    assert!(matches!(old.observe(other).await, Err(SessionError::Unknown(_))));
}

/// Keeps everything, and once says that it does not know whether it did.
#[derive(Debug)]
struct Unsure(MemoryStore, AtomicBool);

impl Store for Unsure {
    fn submit(&self, write: Write, answer: Answer) {
        let lost = matches!(write, Write::Append { .. }) && !self.1.swap(true, Ordering::SeqCst);
        let trouble = ServerTrouble::Unsure { problem: "cut off".into() };
        let unsure = RecordError::Server { place: "postgres://db".into(), trouble };
        self.0.submit(write, Box::new(move |kept| answer(if lost { Err(unsure) } else { kept })));
    }

    fn load(&self, episode: EpisodeId) -> Result<Record, RecordError> {
        self.0.load(episode)
    }

    fn owner(&self, episode: EpisodeId) -> Result<u64, RecordError> {
        self.0.owner(episode)
    }

    fn of_session(&self, session: &str) -> Result<Option<EpisodeId>, RecordError> {
        self.0.of_session(session)
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, RecordError> {
        self.0.list(filter)
    }
}

#[tokio::test]
async fn a_step_that_nobody_knows_to_be_kept_is_looked_up_and_not_taken_twice() {
    let store = Arc::new(Unsure(MemoryStore::new(), AtomicBool::new(false)));
    let held = sessions(store.clone(), 9);
    let (id, _) = held.create(&task(), Some(1)).await.unwrap();
    let refused = held.step(id, Some(1), PLAN[0].as_bytes()).await.unwrap_err();
    assert!(matches!(refused, SessionError::Failed { advice: AGAIN, .. }), "{refused}");
    let again = held.step(id, Some(1), PLAN[0].as_bytes()).await.unwrap_err();
    assert!(again.to_string().contains("the next step is number 2"), "{again}");
    held.step(id, Some(2), PLAN[2].as_bytes()).await.unwrap();
    let record = store.load(id).unwrap();
    assert_eq!((record.steps().count(), record.check()), (2, Ok(())));
}

#[tokio::test]
async fn what_does_not_fit_is_said_and_changes_nothing() {
    let held = sessions(Arc::new(OffStore), 1);
    let (id, first) = held.create(&task(), None).await.unwrap();
    for (action, says) in [
        (&b"{"[..], "is not JSON"),
        (&b"\xff"[..], "no UTF-8"),
        (br#"{"action":"restrat"}"#, "did you mean `restart`"),
        (br#"{"action":"restart","component":"webb"}"#, "did you mean `web`"),
    ] {
        let error = held.step(id, None, action).await.unwrap_err();
        assert!(matches!(&error, SessionError::Wrong(text) if text.contains(says)), "{error}");
    }
    assert!(matches!(held.score(id).await, Err(SessionError::NotNow(_))));
    assert!(matches!(held.create(&task(), None).await, Err(SessionError::Full(1))));
    assert!(matches!(held.create("task-0", None).await, Err(SessionError::Unknown(_))));
    assert_eq!(held.observe(id).await.unwrap(), first);
    let unknown = held.observe(EpisodeId(1)).await;
    assert!(matches!(unknown, Err(SessionError::Unknown(_))));
    held.step(id, None, PLAN[3].as_bytes()).await.unwrap();
    let over = held.step(id, None, PLAN[3].as_bytes()).await.unwrap_err();
    assert!(matches!(over, SessionError::NotNow(_)), "{over}");
    held.score(id).await.unwrap();
    assert!(held.forget(id).await && !held.forget(id).await);
    held.create(&task(), None).await.unwrap();
}

#[test]
fn names_of_tasks_tell_nothing() {
    let name = TaskKey::default().task("overload/retry-storm");
    assert_eq!(name, TaskKey::default().task("overload/retry-storm"));
    assert!(name.starts_with("task-") && !name.contains("storm"), "{name}");
    assert_ne!(name, TaskKey::default().task("overload/retry-stor"));
}

#[tokio::test]
async fn on_a_full_disk_the_step_is_not_taken_and_can_be_taken_later() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(record::SqliteStore::open(&folder.path().join("records.db")).unwrap());
    let held = sessions(store.clone(), 9);
    let (id, _) = held.create(&task(), Some(3)).await.unwrap();
    store.bound(0).unwrap();
    let mut taken = 0;
    let wait = br#"{"action":"wait","seconds":1}"#;
    let refused = loop {
        match held.step(id, None, wait).await {
            Ok(_) => taken += 1,
            Err(error) => break error,
        }
    };
    let SessionError::Failed { cause, .. } = &refused else { panic!("{refused}") };
    assert!(cause.contains("the disk is full"), "{cause}");
    assert!(!refused.to_string().contains("records.db"), "{refused}");
    assert_eq!(store.load(id).unwrap().steps().count(), taken);
    store.bound(1 << 30).unwrap();
    let stepped = held.step(id, Some(taken as u32 + 1), wait).await.unwrap();
    assert_eq!(stepped.observation.seconds, taken as i64 + 1);
}
