//! `mayday serve` as a process: agents over HTTP, the control port beside it.

use crate::kit::{LIBRARY, Server, mayday};
use proto::orchestrator::v1::episodes_client::EpisodesClient;
use proto::orchestrator::v1::{CreateRequest, ListRequest, ScoreRequest, StepRequest};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

const PLAN: [&str; 4] = [
    r#"{"action":"metrics","component":"web"}"#,
    r#"{"action":"rollback","component":"web"}"#,
    r#"{"action":"wait","seconds":60}"#,
    r#"{"action":"resolve"}"#,
];
/// What an agent must not read anywhere.
const SECRETS: [&str; 7] = [
    "bad_deploy",
    "broken-release",
    "canary-",
    "server.version",
    "fails half",
    "agent_phase",
    "impact_noop",
];

fn serve(more: &[&str]) -> Server {
    let args = ["serve", "--listen", "127.0.0.1:0", "--library", LIBRARY];
    Server::start(&[&args[..], more].concat(), None)
}

/// Status, the session it names, and the body, which tells nothing that an agent must not know.
fn ask(
    server: &Server,
    method: &str,
    path: &str,
    session: &str,
    body: &str,
) -> (u16, String, String) {
    let mut stream = TcpStream::connect(server.address("agents")).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         openenv-session-id: {session}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let named = head.lines().find_map(|line| line.strip_prefix("openenv-session-id: "));
    assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "{path}: {text}");
    (status, named.unwrap_or_default().to_string(), body.to_string())
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn step(server: &Server, session: &str, action: &str) -> Value {
    let body = format!(r#"{{"action":{action}}}"#);
    let (status, _, reply) = ask(server, "POST", "/step", session, &body);
    assert_eq!(status, 200, "{reply}");
    parsed(&reply)
}

// The connections live on while the test waits for a process.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_agent_is_paid_what_the_control_port_says() {
    let server = serve(&["--control", "127.0.0.1:0", "--records", "memory"]);
    let (_, _, tasks) = ask(&server, "POST", "/mayday/tasks", "", r#"{"split":"train"}"#);
    let task = parsed(&tasks)["tasks"][5].clone();
    assert_eq!(task["seed"], json!(5));
    let (status, session, first) = ask(&server, "POST", "/reset", "", &task.to_string());
    assert_eq!((status, &parsed(&first)["reward"]), (200, &Value::Null), "{first}");
    let again = ask(&server, "POST", "/reset", &session, &task.to_string()).2;
    assert_eq!(again, first, "the same bytes");
    let replies: Vec<_> = PLAN.iter().map(|action| step(&server, &session, action)).collect();
    let paid: Vec<_> = replies.iter().map(|reply| reply["reward"].as_f64().unwrap()).collect();
    let why = json!({"done_reason": "resolved", "terminated": true, "truncated": false});
    assert_eq!((&replies[3]["done"], &replies[3]["metadata"]), (&json!(true), &why));
    let state = parsed(&ask(&server, "GET", "/state", &session, "").2);
    assert_eq!((&state["step_count"], &state["seed"]), (&json!(4), &json!(5)));

    let address = format!("http://{}", server.address("control"));
    let mut calls = EpisodesClient::connect(address).await.unwrap();
    let name = task["task"].as_str().unwrap().to_string();
    let request = CreateRequest { task: name, seed: Some(5) };
    let episode = calls.create(request).await.unwrap().into_inner().episode;
    for (action, paid) in PLAN.iter().zip(&paid) {
        let (episode, action_json) = (episode.clone(), action.as_bytes().to_vec());
        let request = StepRequest { episode, action_json, number: None };
        assert_eq!(calls.step(request).await.unwrap().into_inner().reward, *paid, "{action}");
    }
    let request = ScoreRequest { episode: state["record"].as_str().unwrap().to_string() };
    let score = calls.score(request).await.unwrap().into_inner().score;
    assert!((paid.iter().sum::<f64>() - score).abs() < 1e-9 && score > 0.8, "{paid:?} {score}");
    let listed = calls.list(ListRequest { newest: 0 }).await.unwrap().into_inner().episodes;
    let worlds: Vec<_> = listed.iter().filter(|e| e.steps == 4).map(|e| &e.world).collect();
    assert_eq!(worlds.len(), 2);
    assert_eq!(worlds[0], worlds[1], "one world, by either port");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn what_agents_may_read_tells_nothing() {
    let server = serve(&["--control", "off"]);
    for path in ["/", "/docs", "/openapi.json", "/schema", "/metadata", "/mayday/splits"] {
        assert_eq!(ask(&server, "GET", path, "", "").0, 200, "{path}");
    }
    let (_, session, _) = ask(&server, "POST", "/reset", "", r#"{"seed":1}"#);
    for action in [
        r#"{"action":"status"}"#,
        r#"{"action":"topology"}"#,
        r#"{"action":"changes","minutes":60}"#,
        r#"{"action":"config","component":"web"}"#,
        r#"{"action":"logs","component":"web","minutes":60}"#,
        r#"{"action":"traces"}"#,
        r#"{"action":"resolve"}"#,
    ] {
        step(&server, &session, action);
    }
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn nearly_right_actions_are_refused_and_never_an_error_of_the_server() {
    let server = serve(&["--control", "off"]);
    let (_, session, _) = ask(&server, "POST", "/reset", "", r#"{"seed":1}"#);
    let values =
        ["null", "-1", "1e308", "\"\"", "\"web\"", "[]", "{}", "true", "\"\\u0000\"", "\"9s\""];
    let schema = parsed(&ask(&server, "GET", "/schema", "", "").2);
    for action in schema["action"]["oneOf"].as_array().unwrap() {
        let fields = action["properties"].as_object().unwrap();
        for (at, value) in values.iter().enumerate() {
            let each = fields.iter().map(|(name, field)| match field["const"].as_str() {
                Some(word) if at % 5 > 0 => format!("{name:?}:{word:?}"),
                _ => format!("{name:?}:{value}"),
            });
            let body = format!(r#"{{"action":{{{}}}}}"#, each.collect::<Vec<_>>().join(","));
            let (status, _, reply) = ask(&server, "POST", "/step", &session, &body);
            assert!(status == 200 || status == 422, "{body}: {status} {reply}");
        }
    }
    assert_eq!(ask(&server, "GET", "/health", "", "").0, 200);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn bad_options_and_taken_ports_are_named() {
    for (args, code, says) in [
        (&["--listen", "here"][..], 2, "invalid socket address"),
        (&["--control", "here"], 2, "or off"),
        (&["--max-sessions", "0"], 2, "0 is not in 1..=1000000"),
        (&["--idle", "0"], 2, "expected seconds"),
        (&["--mode", "both"], 2, "production"),
        (&["--reward", "never"], 2, "dense, final"),
        (&["--library", "/nowhere"], 2, "has to hold the folders"),
    ] {
        let output = mayday(&[&["serve"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {said}");
    }
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = held.local_addr().unwrap().to_string();
    for (args, says) in [
        (["--listen", &taken, "--control", "off"], "choose another with --listen"),
        (["--listen", "127.0.0.1:0", "--control", &taken], "choose another with --control"),
    ] {
        let args = [&["serve", "--library", LIBRARY][..], &args].concat();
        let output = mayday(&args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("{taken} is in use")) && said.contains(says), "{said}");
    }
    let help = String::from_utf8(mayday(&["serve", "--help"]).stdout).unwrap();
    for word in ["--max-sessions", "--grace", "/mcp/v1", "GenericEnvClient", "curl"] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn both_ports_are_asked_for_their_health_and_control_has_a_name() {
    let server = serve(&["--control", "localhost:0"]);
    let (agents, control) = (server.address("agents"), server.address("control"));
    let asked = mayday(&["health", &control, "--agents", &agents]);
    assert_eq!(asked.status.code(), Some(0), "{}", String::from_utf8_lossy(&asked.stderr));
    let said = String::from_utf8(asked.stdout).unwrap();
    assert_eq!(said, format!("{control} serves\n{agents} serves\n"));
    for exchanged in [&["health", "--agents", &control][..], &["health", &agents]] {
        assert_eq!(mayday(exchanged).status.code(), Some(1), "{exchanged:?}");
    }
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn dialects_are_spoken_below_a_prefix_and_on_ports_of_their_own() {
    let args = ["serve", "--listen", "127.0.0.1:0", "--control", "off", "--dialect", "sentinel"];
    let apart = ["--dialect-listen", "incident-sim=127.0.0.1:0"];
    let server = Server::start(&[&args[..], &apart].concat(), None);
    let reset = r#"{"task_id":"api-recovery-easy"}"#;
    let (status, _, body) = ask(&server, "POST", "/sentinel/reset", "me", reset);
    assert_eq!((status, &parsed(&body)["reward"]), (200, &json!(0.01)));
    let action = r#"{"action":{"command":"restart_service","target":"web-api"}}"#;
    let (_, _, body) = ask(&server, "POST", "/sentinel/step", "me", action);
    assert_eq!(parsed(&body)["observation"]["system_health"], 1.0, "{body}");
    // What is not named is not spoken, and the protocol of agents goes on beside it.
    assert_eq!(ask(&server, "POST", "/incident-sim/reset", "", "").0, 404);
    assert_eq!(ask(&server, "GET", "/sentinel/nothing", "", "").2, r#"{"detail":"Not Found"}"#);
    assert_eq!(ask(&server, "GET", "/health", "", "").0, 200);
    let address = server.said["dialects"]["incident-sim"].as_str().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /tasks HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200") && text.contains("\"total_tasks\":3"), "{text}");
    assert_eq!(server.stop(), Some(0));
}
