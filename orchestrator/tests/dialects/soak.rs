//! Fuzzed actions and requests: whatever comes, the answer is no 5xx and has the documented shape.
//! All of them with `MAYDAY_SOAK=1`, some otherwise.

use crate::kit::{Site, soak};
use crate::players::sentinel_socket;
use axum::body::Body as HttpBody;
use axum::http::{HeaderValue, Request};
use mayday::dialects;
use model::Noise;
use serde_json::{Map, Value, json};

/// Words of the dialects and around them.
const WORDS: &[&str] = &[
    "",
    " ",
    "noop",
    "restart_service",
    "check_health",
    "read_log",
    "start_service",
    "reboot",
    "scale_service",
    "rollback_service",
    "rollback",
    "fix_query",
    "clear_cache",
    "check_logs",
    "web-api",
    "auth-db",
    "payment-gateway",
    "api-gateway",
    "frontend",
    "user-db",
    "easy",
    "hard",
    "auth-service",
    "payment-service",
    "investigate",
    "diagnose",
    "prioritize",
    "remediate",
    "escalate",
    "verify",
    "database_primary",
    "alert_001",
    "P1",
    "systemctl restart nginx",
    "kill -9 6789",
    "rm -rf /",
    "$(",
    "`",
    "\u{0}",
    "\u{1F600}",
    "../../etc/passwd",
    "null",
];
/// Names of fields.
const FIELDS: &[&str] = &[
    "type",
    "target",
    "params",
    "command",
    "explanation",
    "action",
    "action_type",
    "parameters",
    "metadata",
    "task_id",
    "task_name",
    "seed",
    "episode_id",
    "aspect",
    "root_cause",
    "priority",
];

/// A value at random, at most so deep.
fn value(dice: Noise, depth: u64) -> Value {
    match dice.bits(0) % if depth > 0 { 9 } else { 6 } {
        0 => Value::Null,
        1 => dice.bits(1).is_multiple_of(2).into(),
        2 => json!(dice.bits(1) as i64),
        3 => json!(dice.between(1, -1e9, 1e9)),
        4 | 5 => word(dice.branch("word")).into(),
        6 => (0..dice.bits(1) % 4)
            .map(|at| value(dice.branch("list").index(at), depth - 1))
            .collect(),
        _ => Value::Object(fields(dice.branch("map"), depth - 1)),
    }
}

fn word(dice: Noise) -> String {
    let pick = |n: i64| WORDS[dice.bits(n) as usize % WORDS.len()];
    match dice.bits(0) % 8 {
        0 => format!("{} {}", pick(1), pick(2)),
        1 => pick(1).repeat(1 + dice.bits(2) as usize % 200),
        _ => pick(1).to_string(),
    }
}

fn fields(dice: Noise, depth: u64) -> Map<String, Value> {
    let count = dice.bits(0) % 5;
    let field = |at| {
        let dice = dice.index(at);
        let name = FIELDS[dice.bits(0) as usize % FIELDS.len()];
        (name.to_string(), value(dice.branch("value"), depth))
    };
    (1..=count).map(field).collect()
}

/// An action that is nearly one of the dialect, or anything at all.
fn action(dialect: &str, dice: Noise) -> Value {
    if dice.bits(0).is_multiple_of(4) {
        return value(dice.branch("any"), 3);
    }
    let (one, two) = (word(dice.branch("one")), word(dice.branch("two")));
    let mut action = match dialect {
        "sentinel" => json!({"action": {"command": one, "target": two}}),
        "netarena" => json!({"command": one, "explanation": two}),
        "triage" => json!({"action_type": one, "target": two, "parameters": {}}),
        _ => json!({"type": one, "target": two, "params": {}}),
    };
    if dice.bits(1).is_multiple_of(3)
        && let Value::Object(action) = &mut action
    {
        action.extend(fields(dice.branch("more"), 2));
    }
    action
}

#[tokio::test]
async fn no_action_is_answered_with_a_failure() {
    let actions: u64 = if soak() { 100_000 } else { 400 };
    for dialect in dialects::all() {
        let site = Site::of(dialect.name).await;
        let dice = Noise::root(7).branch(dialect.name);
        for at in 0..actions {
            let dice = dice.index(at);
            let reset = dice.bits(0).is_multiple_of(20);
            let path = match (reset, dialect.name) {
                (true, "netarena") => "/reset?task_id=task2",
                (true, _) => "/reset",
                (false, "netarena") => "/step?task_id=task2",
                (false, _) => "/step",
            };
            let body = action(dialect.name, dice.branch("action"));
            let mut text = body.to_string();
            if dice.bits(1).is_multiple_of(30) {
                // Half a body: what is cut anywhere is no JSON, and may be no text.
                let cut = dice.bits(2) as usize % (text.len() + 1);
                while !text.is_char_boundary(cut.min(text.len())) {
                    text.pop();
                }
                text.truncate(cut.min(text.len()));
            }
            let answer = site.send("POST", path, "soak", text.clone()).await;
            let status = answer.status;
            let known = [200, 400, 404, 413, 422].contains(&status);
            assert!(known, "{dialect:?} {path} {text}: {status} {}", answer.body);
            let detailed = !answer.body["detail"].is_null();
            assert_eq!(detailed, status != 200, "{dialect:?} {path} {text}: {}", answer.body);
        }
    }
}

const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW"];
const PATHS: &[&str] = &["/nothing", "//", "/step/", "/reset/../step", "/%ff", "/grade/%00"];
const QUERIES: &[&str] = &[
    "",
    "",
    "?",
    "?task_id=task1",
    "?task_id=task1&task_id=task2",
    "?task_id=%ff%00",
    "?task_id",
    "?&&==&",
    "?session_id=%00",
    "?session_id=other",
];
/// Values of headers, some of which are no text.
const VALUES: &[&[u8]] = &[
    b"",
    b"application/json",
    b"application/json; charset=latin1",
    b"text/plain",
    b"multipart/form-data; boundary=",
    b"application/x-www-form-urlencoded",
    b"\xff\xfe",
    b";;=,",
    b"openenv_session=\xff; openenv_session=; =",
    b"websocket",
    b"gzip",
];
const HEADERS: &[&str] = &[
    "content-type",
    "cookie",
    "openenv-session-id",
    "content-encoding",
    "upgrade",
    "connection",
    "sec-websocket-version",
    "accept",
];
/// How deep what is nested is.
const DEEP: usize = 200_000;
/// Bytes of the largest bodies.
const LARGE: usize = 16 << 20;

/// A body that is no action.
fn body(dice: Noise) -> Vec<u8> {
    let any = |n: u64| (0..n).map(|at| dice.bits(10 + at as i64) as u8).collect();
    match dice.bits(0) % 8 {
        0 => Vec::new(),
        1 => any(dice.bits(1) % 64),
        2 => [b"{\"command\": \"".to_vec(), any(8), b"\"}".to_vec()].concat(),
        3 => "[".repeat(dice.bits(1) as usize % DEEP).into(),
        4 => "{\"action\":".repeat(dice.bits(1) as usize % 2000).into(),
        5 => b"{\"type\":\"a\",\"type\":\"b\",\"seed\":1e999}".to_vec(),
        6 => b"\xef\xbb\xbf{\"command\":\"\\ud800\"}".to_vec(),
        _ => value(dice.branch("value"), 3).to_string().into_bytes(),
    }
}

fn request(routes: &[&str], dice: Noise) -> Request<HttpBody> {
    let at = |n: i64, len: usize| dice.bits(n) as usize % len;
    let path = match dice.bits(0) % 8 {
        0 => PATHS[at(1, PATHS.len())],
        _ => routes[at(1, routes.len())],
    };
    let uri = format!("{path}{}", QUERIES[at(2, QUERIES.len())]);
    let mut request = Request::builder().method(METHODS[at(3, METHODS.len())]).uri(uri);
    for header in 0..dice.bits(4) % 4 {
        let dice = dice.branch("header").index(header);
        let name = HEADERS[dice.bits(0) as usize % HEADERS.len()];
        let value = VALUES[dice.bits(1) as usize % VALUES.len()];
        request = request.header(name, HeaderValue::from_bytes(value).expect("a value"));
    }
    request.body(body(dice.branch("body")).into()).expect("a request")
}

#[tokio::test]
async fn no_request_is_answered_with_a_failure() {
    let requests: u64 = if soak() { 100_000 } else { 1000 };
    for dialect in dialects::all() {
        let site = Site::of(dialect.name).await;
        let routes: Vec<_> = dialect.endpoints.iter().map(|one| one.path).collect();
        let dice = Noise::root(11).branch(dialect.name);
        for at in 0..requests {
            let request = request(&routes, dice.index(at));
            let said = format!("{dialect:?} {at}: {request:?}");
            let answer = site.answer(request).await;
            assert!(answer.status < 500, "{said}: {answer:?}");
        }
        let deep = ["[".repeat(DEEP), "{\"action\":".repeat(DEEP)];
        let large = [vec![b'['; LARGE], vec![0xff; LARGE], vec![b'"'; LARGE]];
        let bodies = deep.map(String::into_bytes).into_iter().chain(large);
        for body in bodies {
            for path in &routes {
                let request = Request::post(format!("{path}?task_id=task1"));
                let request = request.body(body.clone().into()).expect("a request");
                let status = site.answer(request).await.status;
                assert!(status < 500, "{dialect:?} {path} {} bytes: {status}", body.len());
            }
        }
        assert_eq!(site.call("GET", "/health", "", None).await.status, 200, "{dialect:?}");
    }
}

#[tokio::test]
async fn no_message_to_a_socket_is_answered_with_a_failure() {
    let site = Site::of("sentinel").await;
    let dice = Noise::root(13);
    let mut socket = sentinel_socket(&site, "").await;
    for at in 0..if soak() { 100_000 } else { 400 } {
        let dice = dice.index(at);
        let kind = ["reset", "step", "state", "other"][dice.bits(0) as usize % 4];
        let data = value(dice.branch("data"), 3);
        let text = match dice.bits(1) % 4 {
            0 => String::from_utf8_lossy(&body(dice.branch("body"))).into_owned(),
            1 => value(dice.branch("any"), 3).to_string(),
            _ => json!({"type": kind, "data": data}).to_string(),
        };
        let answer = socket.ask(text.clone()).await;
        let known = ["observation", "state", "error"].iter().any(|kind| answer["type"] == *kind);
        assert!(known, "{text}: {answer}");
        let why = answer["data"]["message"].as_str().unwrap_or_default();
        assert!(!why.contains("defect"), "{text}: {answer}");
    }
    let state = socket.ask(json!({"type": "state"}).to_string()).await;
    assert_eq!(state["type"], "state");
}
