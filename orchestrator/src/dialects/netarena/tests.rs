//! The dialect through its own routes: what the original was recorded to answer, what it must not
//! pay any more, and clients that do not meet.

use super::*;
use crate::body::Body;
use crate::judge::AnyJudge;
use crate::keeping::Keeping;
use crate::play::RewardMode;
use crate::sessions::{House, Sessions};
use crate::shelf::LibraryArgs;
use crate::stage::Limits;
use crate::stage::caller::HEADER;
use axum::body::Body as Bytes;
use axum::http::Request;
use http_body_util::BodyExt;
use record::OffStore;
use scenario::Scenario;
use std::time::Duration;
use tower::ServiceExt;

/// What the recorded episodes have to come to here, with the reason where that is not `Exact`.
const VERDICTS: &[(&str, Verdict, &str)] = &[
    ("na-00", Exact, ""),
    ("na-01", Exact, ""),
    ("na-03", Exact, ""),
    ("na-04", Exact, ""),
    ("na-05", Refused(1.0), "nothing is paid after the end"),
    ("na-06", Refused(0.0), "echo prints"),
    ("na-10", Refused(0.0), "a folder's name is no look at the system"),
    ("na-12", Refused(0.0), "a folder's name is no look at the system"),
    ("na-13", Refused(0.0), "orders to a unit that is down are no look at it"),
    ("na-15", Refused(0.1), "there is no unit of the name"),
    ("na-16", Exact, ""),
    ("na-24", Refused(0.0), "there is no such process"),
    ("na-26", Refused(0.0), "a comment"),
    ("na-27", Refused(0.0), "signals that reach nobody show nothing"),
    ("na-29", Refused(0.1), "psql and ssh are not ps and ss; that the port 18080 is free is a look"),
    ("na-2b", Refused(1.0), "nothing is paid after the end"),
    ("na-2c", Exact, ""),
    ("na-30", Exact, ""),
    ("na-32", Exact, ""),
    ("na-33", Exact, ""),
    ("na-34", Exact, ""),
    ("na-36", Refused(0.1), "grep reads"),
    ("na-37", Refused(0.0), "echo prints"),
    ("na-39", Accepted(1.0), "both halves of the line run"),
    ("na-3a", Accepted(0.4), "both halves of the line run"),
    ("na-3b", Exact, ""),
    ("na-3c", Refused(0.0), "echo prints"),
    ("na-40", Exact, ""),
];

/// Exit codes of recorded steps that the programs themselves end with otherwise.
const CODES: &[(&str, usize, i64, &str)] = &[
    ("na-01", 0, 3, "systemctl says so of a unit that is down"),
    ("na-04", 0, 3, "systemctl says so of a unit that is down"),
    ("na-40", 0, 3, "systemctl says so of a unit that is down"),
    ("na-40", 2, 3, "systemctl says so of a unit that is down"),
    ("na-2c", 1, 4, "there is no unit of this name"),
];

/// What a recorded episode comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    /// Statuses, rewards, ends, exit codes and states as recorded.
    Exact,
    /// An exploit: the rewards sum to at most this.
    Refused(f64),
    /// A sound fix that the original turned down: they sum to at least this.
    Accepted(f64),
}
use Verdict::{Accepted, Exact, Refused};

/// The routes, over shipped scenarios or changed ones.
fn served(change: impl Fn(&mut Scenario)) -> Router {
    let sessions = Sessions::new(House {
        tasks: BTreeMap::new(),
        source: Body::Embedded.source().unwrap(),
        judge: AnyJudge::new(None, &Body::Embedded).unwrap(),
        store: Keeping::new(Arc::new(OffStore)),
        reward: RewardMode::Dense,
        episodes_max: 64,
    });
    let shelf = LibraryArgs { library: None }.open().unwrap();
    let scenarios: Vec<_> = DIALECT
        .scenarios
        .iter()
        .map(|name| {
            let mut scenario = (*shelf.load(name).unwrap()).clone();
            change(&mut scenario);
            Arc::new(scenario)
        })
        .collect();
    let limits = Limits { rooms_max: 8, idle: Duration::from_secs(600) };
    DIALECT.router(Arc::new(Stage::new(Arc::new(sessions), scenarios, limits)))
}

/// Sends a request and reads the answer: status and JSON.
async fn send(routes: &Router, method: &str, path: &str, body: &str, who: &str) -> (u16, Value) {
    let mut request = Request::builder().method(method).uri(path);
    request = request.header("content-type", "application/json");
    if !who.is_empty() {
        request = request.header(HEADER, who);
    }
    let request = request.body(Bytes::from(body.to_string())).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

async fn reset(routes: &Router, task: &str, who: &str) -> String {
    let (status, reply) = send(routes, "POST", &format!("/reset?task_id={task}"), "", who).await;
    assert_eq!(status, 200, "{reply}");
    reply["stdout"].as_str().unwrap().to_string()
}

async fn step(routes: &Router, task: &str, command: &str, who: &str) -> Value {
    let body = json!({"command": command}).to_string();
    let (status, reply) =
        send(routes, "POST", &format!("/step?task_id={task}"), &body, who).await;
    assert_eq!(status, 200, "{command}: {reply}");
    reply
}

/// Sends a recorded request.
async fn again(routes: &Router, request: &Value) -> (u16, Value) {
    let mut path = request["path"].as_str().unwrap().to_string();
    for (key, value) in request["query"].as_object().into_iter().flatten() {
        path += &format!("?{key}={}", value.as_str().unwrap());
    }
    let mut body = request["body"].clone();
    if body["command"] == "<1001 chars>" {
        body["command"] = "x".repeat(1001).into();
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    send(routes, request["method"].as_str().unwrap(), &path, &body, "").await
}

/// What differs between a recorded step and what it came to.
async fn compare(
    routes: &Router,
    id: &str,
    at: usize,
    recorded: &Value,
    now: &(u16, Value),
    departures: &mut Vec<String>,
) {
    let place = format!("{id} step {at}");
    assert_eq!(recorded["status"], now.0, "{place}: {}", now.1);
    if now.0 != 200 {
        // Errors of the same shape: a text, or items of the same kinds at the same places.
        let Some(error) = recorded["error"].as_str() else { return };
        let error: Value = serde_json::from_str(error).unwrap();
        let detail = |value: &Value| match &value["detail"] {
            Value::Array(items) => {
                items.iter().map(|i| format!("{}{}", i["type"], i["loc"])).collect::<Vec<_>>()
            }
            text => vec![text.is_string().to_string()],
        };
        assert_eq!(detail(&error), detail(&now.1), "{place}");
        return;
    }
    if recorded["obs"].is_null() {
        return;
    }
    assert_eq!(recorded["response_reward"], now.1["reward"]["value"], "{place}: {}", now.1);
    assert_eq!(recorded["response_done"], now.1["done"], "{place}: {}", now.1);
    for key in ["step_number", "done"] {
        assert_eq!(recorded["obs"][key], now.1["observation"][key], "{place}: {}", now.1);
    }
    let code = now.1["observation"]["exit_code"].as_i64().unwrap();
    match CODES.iter().find(|(of, step, ..)| *of == id && *step == at) {
        Some((_, _, own, why)) => {
            assert_eq!(code, *own, "{place}: {}", now.1);
            departures.push(format!("{place}: exit code {code}, {why}"));
        }
        None => assert_eq!(recorded["obs"]["exit_code"], code, "{place}: {}", now.1),
    }
    let task = recorded["request"]["query"]["task_id"].as_str().unwrap();
    let (_, state) = send(routes, "GET", &format!("/state?task_id={task}"), "", "").await;
    for (key, value) in recorded["state"].as_object().into_iter().flatten() {
        assert_eq!(*value, state[key], "{place}: {key}");
    }
}

#[tokio::test]
async fn what_was_recorded_comes_to_its_verdict() {
    let text = include_str!("../../../../tests/vectors/netarena.jsonl");
    let read = |line| serde_json::from_str(line).unwrap();
    let vectors: Vec<Value> = text.lines().map(read).collect();
    assert_eq!(vectors.len(), VERDICTS.len());
    let mut departures = Vec::new();
    for vector in vectors {
        let id = vector["id"].as_str().unwrap();
        let (_, verdict, why) = VERDICTS.iter().find(|(of, ..)| *of == id).expect("a verdict");
        let idle = ["na-12", "na-13", "na-27"].contains(&id);
        assert!(vector["exploit"] == (*verdict != Exact) || idle, "{id}");
        let routes = served(|_| {});
        if !vector["reset_request"].is_null() {
            let (status, reply) = again(&routes, &vector["reset_request"]).await;
            assert_eq!(vector["reset_response"]["status"], status);
            assert_eq!(reply["stdout"].is_string(), status == 200);
        }
        let mut sum = 0.0;
        for (at, recorded) in vector["steps"].as_array().unwrap().iter().enumerate() {
            let now = again(&routes, &recorded["request"]).await;
            assert_eq!(recorded["status"], now.0, "{id} step {at}: {}", now.1);
            sum += now.1["reward"]["value"].as_f64().unwrap_or(0.0);
            if *verdict == Exact {
                compare(&routes, id, at, recorded, &now, &mut departures).await;
            }
        }
        match verdict {
            Exact => assert!((vector["reward_sum"].as_f64().unwrap() - sum).abs() < 1e-9, "{id}"),
            Refused(most) => assert!(sum <= most + 1e-9, "{id}: {sum}"),
            Accepted(least) => assert!(sum >= least - 1e-9, "{id}: {sum}"),
        }
        if *verdict != Exact {
            departures.push(format!("{id}: {verdict:?}, {why}"));
        }
    }
    let apart = VERDICTS.iter().filter(|(_, verdict, _)| *verdict != Exact).count();
    assert_eq!(departures.len(), apart + CODES.len(), "{departures:#?}");
}

#[tokio::test]
async fn two_clients_never_meet_and_those_without_a_name_share() {
    let routes = served(|_| {});
    for who in ["a", "b", ""] {
        assert!(reset(&routes, "task1", who).await.contains("prod-web-01"));
    }
    step(&routes, "task1", "systemctl start nginx", "a").await;
    let states = [("a", "running"), ("b", "inactive"), ("", "inactive")];
    for (who, nginx) in states {
        let (_, state) = send(&routes, "GET", "/state?task_id=task1", "", who).await;
        assert_eq!(state["nginx_status"], nginx, "{who}");
        assert_eq!(state["max_steps"], 15);
    }
    let reply = step(&routes, "task1", "systemctl restart nginx", "").await;
    assert_eq!((&reply["done"], &reply["reward"]["value"]), (&json!(true), &json!(1.0)));
    let reply = step(&routes, "task1", "systemctl stop nginx", "").await;
    assert_eq!(reply["observation"]["stdout"], "Task already completed.");
    let (status, _) = send(&routes, "GET", "/state?task_id=task2", "", "b").await;
    assert_eq!(status, 404, "task2 was not begun");
    let (status, reply) = send(&routes, "GET", "/state", "", "").await;
    assert_eq!((status, &reply["detail"][0]["loc"]), (422, &json!(["query", "task_id"])));
    let (status, _) = send(&routes, "POST", "/reset?task_id=task4", "", "").await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn fixes_that_the_original_turned_down_are_paid() {
    for (task, lines) in [
        ("task1", &["service nginx start"][..]),
        ("task1", &["nginx"]),
        ("task2", &["fuser -k 8080/tcp"]),
        ("task2", &["pkill zombie_proc"]),
        ("task2", &["kill -9 $(lsof -t -i:8080)"]),
        ("task3", &["> /var/log/app.log", "systemctl start postgresql"]),
        ("task3", &["find /var/log -size +1G -delete; service postgresql start"]),
    ] {
        let routes = served(|_| {});
        reset(&routes, task, "").await;
        let mut last = Value::Null;
        for line in lines {
            last = step(&routes, task, line, "").await;
        }
        assert_eq!(last["reward"]["value"], 1.0, "{lines:?}: {last}");
        assert_eq!(last["done"], true, "{lines:?}");
    }
}

/// States are computed: where a fault is weaker, or users are fewer, they are others.
#[tokio::test]
async fn states_follow_from_the_system() {
    let halved = served(|scenario| {
        for event in &mut scenario.timeline {
            if let scenario::resolved::Happening::Pull { pulls, .. } = &mut event.what {
                for pull in pulls.iter_mut().filter(|p| p.args.has("size")) {
                    let size = pull.args.number("size") / 2.0;
                    pull.args = pull.args.clone().with("size", size);
                }
            }
        }
    });
    for (routes, full) in [(served(|_| {}), true), (halved, false)] {
        reset(&routes, "task3", "").await;
        let reply = step(&routes, "task3", "systemctl start postgresql", "").await;
        let (_, state) = send(&routes, "GET", "/state?task_id=task3", "", "").await;
        let db = if full { "crashed" } else { "running" };
        assert_eq!((&state["db_status"], &reply["done"]), (&json!(db), &json!(!full)), "{state}");
        assert_eq!(state["disk_usage_percent"].as_i64().unwrap() == 100, full);
    }
}

/// No body is answered with a failure of the server.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the switch for full counts")]
async fn no_request_makes_the_server_fail() {
    let count = if std::env::var_os("MAYDAY_SOAK").is_some() { 100_000 } else { 400 };
    let dice = model::Noise::root(5).branch("netarena");
    let pieces = [
        "{", "}", "[", "]", "\"command\"", ":", ",", "\"ls\"", "1", "null", "\"kill -9 6789\"", "\\u0000",
        "\"explanation\"", "\"$(((\"", "true", "1e999", "\"\u{1F525}\"", " ", "-", "\"rm -rf /\"",
    ];
    let routes = served(|_| {});
    for n in 0..count {
        let dice = dice.index(n);
        if dice.bits(0).is_multiple_of(12) {
            let task = ["task1", "task2", "task3", "task%00", ""][dice.bits(1) as usize % 5];
            let path = format!("/reset?task_id={task}");
            let (status, reply) = send(&routes, "POST", &path, "", "").await;
            assert!(status < 500, "{path}: {reply}");
        }
        let body: String = match dice.bits(2) % 2 {
            0 => (3..3 + dice.bits(3) % 12)
                .map(|k| pieces[dice.bits(10 + k as i64) as usize % pieces.len()])
                .collect(),
            _ => {
                let words = (0..dice.bits(3) % 8)
                    .map(|k| pieces[dice.bits(10 + k as i64) as usize % pieces.len()]);
                json!({"command": words.collect::<String>(), "explanation": ""}).to_string()
            }
        };
        let task = 1 + dice.bits(4) % 3;
        let (status, reply) =
            send(&routes, "POST", &format!("/step?task_id=task{task}"), &body, "").await;
        assert!(status < 500, "{body}: {reply}");
    }
}
