//! Lines in, lines out, and what is kept of them.

use super::ledger::Ledger;
use super::pipes;
use super::request::{self, Deed};
use super::trajectory::Trajectory;
use super::worker::{self, Connection, Tally};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use openenv::{Begun, Catalogue, End, Environment, Fields, Refusal, Seen, Turn, Wish};
use serde_json::{Value, json};
use std::io::{self, Cursor, Write};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, channel, unbounded_channel};

#[test]
fn requests_are_read_and_all_that_is_wrong_is_said() {
    let read = |value: Value| request::read(value.to_string().as_bytes());
    let reset = read(json!({"id": 1, "episode": "a", "type": "reset", "data": {"seed": "7"}}));
    let Ok(request::Request { deed: Deed::Reset(options), .. }) = reset else { panic!() };
    assert_eq!(options.seed, Some(7));
    let step = json!({"id": "x", "episode": "a", "type": "step", "data": {"metadata": {}}});
    assert_eq!(read(step).unwrap().deed, Deed::Step(openenv::Fields::new()));
    for (given, id, code, says) in [
        (json!([1]), json!(null), "VALIDATION_ERROR", "valid dictionary"),
        (json!({"id": 1, "episode": "a"}), json!(1), "UNKNOWN_TYPE", "one of reset, step, close"),
        (json!({"episode": "a", "type": "close"}), json!(null), "VALIDATION_ERROR", "id: Field"),
        (json!({"id": 2, "type": "close"}), json!(2), "VALIDATION_ERROR", "episode: Field"),
        (
            json!({"id": 2, "type": "close", "episode": ""}),
            json!(2),
            "VALIDATION_ERROR",
            "1 to 255 characters",
        ),
        (
            json!({"id": 3, "episode": "a", "type": "step"}),
            json!(3),
            "VALIDATION_ERROR",
            "data: Field required",
        ),
        (
            json!({"id": 3, "episode": "a", "type": "reset", "data": {"sede": 1}, "more": 1}),
            json!(3),
            "VALIDATION_ERROR",
            "more: Extra inputs are not permitted; data.sede: Unknown option `sede`",
        ),
        (
            json!({"id": 3, "episode": "a", "type": "close", "data": {}}),
            json!(3),
            "VALIDATION_ERROR",
            "data: Extra",
        ),
    ] {
        let (of, wrong) = read(given.clone()).unwrap_err();
        let answer = request::complaint(&of, None, &wrong);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{given}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{given}: {message}");
    }
    let (_, wrong) = request::read(b"{bad").unwrap_err();
    assert!(request::complaint(&json!(null), None, &wrong).contains("INVALID_JSON"));
}

#[test]
fn long_lines_are_passed_over_and_the_rest_is_read() {
    let long = "x".repeat(usize::try_from(pipes::LINE_MAX).unwrap() + 9);
    let text = format!("one\n\n{long}\ntwo\n{long}");
    let mut lines = pipes::read(Cursor::new(text.into_bytes())).unwrap();
    let mut next = || lines.blocking_recv();
    assert_eq!(next(), Some(Some(b"one".to_vec())));
    assert_eq!(next(), Some(None));
    assert_eq!(next(), Some(Some(b"two".to_vec())));
    assert_eq!(next(), None, "a line that never ends is none");
}

#[test]
fn lines_are_written_in_order_each_once() {
    let mut text = Vec::new();
    let mut ledger = Ledger::new(&mut text);
    for number in [2, 0, 3, 1] {
        ledger.put(number, (number != 3).then(|| number.to_string()));
    }
    assert_eq!(ledger.finish().unwrap(), 3);
    assert_eq!(String::from_utf8(text).unwrap(), "0\n1\n2\n");
}

#[test]
fn what_cannot_be_written_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("no space"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut ledger = Ledger::new(Full);
    ledger.put(0, Some("x".into()));
    assert!(ledger.has_failed());
    assert_eq!(ledger.finish().unwrap_err().to_string(), "no space");
}

#[test]
fn a_trajectory_is_one_object() {
    let seen = |n: u32| Seen::new(&json!({"step": n})).unwrap();
    let begun = Begun { episode: "secret".into(), task: "task-1".into(), seen: seen(0) };
    let mut trajectory = Trajectory::begin(("episode", "a\"b"), &begun, None);
    let left: Value = serde_json::from_str(&trajectory.clone().line()).unwrap();
    assert_eq!((&left["terminated"], &left["return"]), (&json!(null), &json!(0.0)));
    let turn = Turn { seen: seen(1), reward: 0.25, end: None };
    trajectory.step(&json!({"action": "status"}), &turn);
    let end = Some(End { reason: "horizon".into(), truncated: true });
    trajectory.step(&json!({"action": "wait"}), &Turn { seen: seen(2), reward: 0.5, end });
    assert_eq!(trajectory.steps(), 2);
    let line: Value = serde_json::from_str(&trajectory.line()).unwrap();
    assert_eq!(
        line,
        json!({
            "episode": "a\"b", "task": "task-1", "seed": null, "observation": {"step": 0},
            "steps": [
                {
                    "action": {"action": "status"}, "observation": {"step": 1}, "reward": 0.25,
                    "done": false,
                },
                {
                    "action": {"action": "wait"}, "observation": {"step": 2}, "reward": 0.5,
                    "done": true,
                },
            ],
            "return": 0.75, "done_reason": "horizon", "terminated": false, "truncated": true,
        })
    );
}

/// Steps take as long as the test wants.
#[derive(Debug)]
struct Slow {
    catalogue: Catalogue,
    running: UnboundedSender<()>,
    go: Arc<Semaphore>,
}

impl Environment for Slow {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn begin(&self, wish: Wish) -> BoxFuture<'_, Result<Begun, Refusal>> {
        let (episode, task) = (format!("{:?}", wish.seed), "task-1".to_string());
        let begun = Begun { episode, task, seen: Seen::new(&json!({})).unwrap() };
        std::future::ready(Ok(begun)).boxed()
    }

    fn step<'a>(&'a self, _: &'a str, _: Fields) -> BoxFuture<'a, Result<Turn, Refusal>> {
        async {
            self.running.send(()).unwrap();
            self.go.acquire().await.unwrap().forget();
            Ok(Turn { seen: Seen::new(&json!({})).unwrap(), reward: 0.5, end: None })
        }
        .boxed()
    }

    fn forget<'a>(&'a self, _: &'a str) -> BoxFuture<'a, ()> {
        std::future::ready(()).boxed()
    }
}

/// A worker over [`Slow`] that was asked for a reset and a step of each of two episodes; the steps
/// run.
struct Running {
    stop: UnboundedSender<()>,
    go: Arc<Semaphore>,
    answers: UnboundedReceiver<String>,
    written: Option<UnboundedSender<()>>,
    ended: tokio::task::JoinHandle<Result<Tally, crate::failure::Failure>>,
}

async fn running() -> Running {
    let (running, mut runs) = unbounded_channel();
    let go = Arc::new(Semaphore::new(0));
    let slow = Arc::new(Slow {
        catalogue: Catalogue {
            about: openenv::About::default(),
            actions: vec![],
            observation: json!({}),
            tools: vec![],
            tasks: vec![],
            splits: vec![],
        },
        running,
        go: go.clone(),
    });
    let (line, lines) = channel(9);
    let (told, mut answers) = unbounded_channel();
    let (written, heard) = unbounded_channel();
    let (stop, stops) = unbounded_channel();
    let connection = Connection { lines, answers: told, written: heard };
    let ended = tokio::spawn(worker::serve(slow, connection, 9, None, stops));
    for (id, episode, kind) in
        [(1, "a", "reset"), (2, "b", "reset"), (3, "a", "step"), (4, "b", "step")]
    {
        let mut request = json!({"id": id, "episode": episode, "type": kind});
        if kind == "step" {
            request["data"] = json!({});
        }
        line.send(Some(request.to_string().into_bytes())).await.unwrap();
    }
    for _ in 0..2 {
        runs.recv().await.unwrap();
    }
    for _ in 0..3 {
        answers.recv().await.unwrap();
        written.send(()).unwrap();
    }
    Running { stop, go, answers, written: Some(written), ended }
}

#[tokio::test]
async fn a_stop_lets_running_steps_be_answered() {
    let mut running = running().await;
    running.stop.send(()).unwrap();
    running.go.add_permits(2);
    for _ in 0..2 {
        let answer: Value = serde_json::from_str(&running.answers.recv().await.unwrap()).unwrap();
        assert_eq!(answer["reward"], 0.5);
        running.written.as_ref().unwrap().send(()).unwrap();
    }
    let tally = running.ended.await.unwrap().unwrap();
    assert_eq!(tally, Tally { episodes: 2, steps: 2, stopped: true });
}

#[tokio::test]
async fn a_second_stop_leaves_them() {
    let running = running().await;
    running.stop.send(()).unwrap();
    running.stop.send(()).unwrap();
    assert_eq!(running.ended.await.unwrap(), Err(crate::failure::Failure::Interrupted));
}

#[tokio::test]
async fn a_trainer_that_goes_away_ends_it() {
    let mut running = running().await;
    running.written = None;
    running.go.add_permits(2);
    let tally = running.ended.await.unwrap().unwrap();
    assert_eq!(tally, Tally { episodes: 2, steps: 2, stopped: false });
}
