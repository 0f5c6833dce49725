//! The control port, by `mayday ctl` and by HTTP, of a server whose agents play at their own port.

use crate::kit::{LIBRARY, Server, command, mayday, skip, wait};
use proto::orchestrator::v1::ShowRequest;
use proto::orchestrator::v1::control_client::ControlClient;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Output, Stdio};

const CONTROL: &str = "/mayday.orchestrator.v1.Control/";
const TOKEN: &str = "0123456789abcdef";

fn serve(more: &[&str], token: Option<&str>) -> Server {
    let args = ["serve", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--library"];
    Server::start(&[&args[..], &[LIBRARY], more].concat(), token)
}

/// A request by hand: status, head and body.
fn http(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let headers: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\
         content-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body = match head.contains("transfer-encoding: chunked") {
        true => unchunked(body),
        false => body.to_string(),
    };
    (status, head.to_string(), body)
}

fn unchunked(mut text: &str) -> String {
    let mut body = String::new();
    while let Some((size, rest)) = text.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        body.push_str(&rest[..size]);
        text = rest[size..].trim_start_matches("\r\n");
        if size == 0 {
            break;
        }
    }
    body
}

const JSON: (&str, &str) = ("content-type", "application/json");

/// A call of the mirror that has to succeed.
fn call(server: &Server, method: &str, request: &Value) -> Value {
    let path = format!("{CONTROL}{method}");
    let (status, _, body) =
        http(&server.address("control"), "POST", &path, &[JSON], &request.to_string());
    assert_eq!(status, 200, "{method}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// A request of an agent: the session that it names, and the answer.
fn agent(server: &Server, path: &str, session: &str, body: &Value) -> (String, Value) {
    let headers = [JSON, ("openenv-session-id", session)];
    let (status, head, body) =
        http(&server.address("agents"), "POST", path, &headers, &body.to_string());
    assert_eq!(status, 200, "{body}");
    let named = head.lines().find_map(|line| line.strip_prefix("openenv-session-id: "));
    (named.unwrap_or_default().to_string(), serde_json::from_str(&body).unwrap())
}

fn step(server: &Server, session: &str, action: Value) -> Value {
    agent(server, "/step", session, &json!({"action": action})).1
}

fn ctl(server: &Server, args: &[&str]) -> Output {
    let address = server.address("control");
    mayday(&[&["ctl", "--control", &address], args].concat())
}

fn told(server: &Server, args: &[&str]) -> String {
    let output = ctl(server, args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(server: &Server, args: &[&str]) -> Value {
    serde_json::from_str(&told(server, &[args, &["--json"]].concat())).unwrap()
}

fn begin(server: &Server) -> (String, String) {
    let (session, _) = agent(server, "/reset", "", &json!({"seed": 5}));
    let listed = json_of(server, &["list"]);
    assert_eq!(listed["episodes"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["episodes"][0]["live"], json!(true));
    (session, listed["episodes"][0]["episode"].as_str().unwrap().to_string())
}

#[test]
fn faults_come_and_go_under_an_agents_hands_and_the_score_stays_true() {
    let server = serve(&["--records", "memory"], None);
    let (session, episode) = begin(&server);
    let mut paid = 0.0;
    let mut act = |action: Value| {
        let reply = step(&server, &session, action);
        paid += reply["reward"].as_f64().unwrap();
        reply
    };
    act(json!({"action": "rollback", "component": "web"}));
    let pulled =
        json_of(&server, &["inject", &episode, "slow_dependency", "--on", "web", "factor=40"]);
    let id = pulled["pulled"][0]["id"].as_str().unwrap().to_string();
    assert_eq!(pulled["pulled"][0]["lever"], json!("server.slow"), "{pulled}");
    let slow = json!({"episode": episode, "fault": "link_latency", "on": "users -> gateway",
                      "parameters": {"delay": "250ms"}});
    assert_eq!(call(&server, "Inject", &slow)["pulled"][0]["edge"], json!("users -> gateway"));
    let seen = act(json!({"action": "wait", "seconds": 60}));
    let truth = json_of(&server, &["inspect", &episode]);
    let components = truth["components"].as_array().unwrap();
    let web = components.iter().find(|one| one["name"] == "web").unwrap();
    let levers: Vec<_> =
        web["levers"].as_array().unwrap().iter().map(|pull| &pull["lever"]).collect();
    assert!(levers.contains(&&json!("server.slow")), "{web}");
    assert!(web["facts"].as_object().unwrap().len() > 3, "{web}");
    assert_eq!(truth["entries"][0]["lever"], json!("edge.latency"), "{truth}");
    for secret in ["server.slow", "slow_dependency", "link_latency", "edge.latency"] {
        assert!(!seen.to_string().contains(secret), "an agent is told nothing: {seen}");
    }

    let before = call(&server, "Show", &json!({"episode": episode}));
    let advanced = json_of(&server, &["advance", &episode, "30"]);
    let tick = |of: &Value| of["tick"].as_str().unwrap().parse::<i64>().unwrap();
    assert_eq!(tick(&advanced), tick(&before) + 30);
    assert_eq!(before["injected"].as_array().unwrap().len(), 2, "{before}");
    assert_eq!(json_of(&server, &["clear", &episode, &id])["cleared"].as_array().unwrap().len(), 1);
    assert_eq!(json_of(&server, &["clear", &episode])["cleared"].as_array().unwrap().len(), 1);
    assert_eq!(json_of(&server, &["show", &episode])["injected"], json!([]));

    act(json!({"action": "wait", "seconds": 60}));
    assert_eq!(act(json!({"action": "resolve"}))["done"], json!(true));
    let verdict = json_of(&server, &["grade", &episode])["verdicts"][0].clone();
    let score = verdict["score"].as_f64().unwrap();
    assert!((paid - score).abs() < 1e-9, "{paid} was paid for {verdict}");
    // What was injected hit everybody: it is in the world in which nobody acts as well.
    let calm = serve(&["--records", "memory"], None);
    let (session, other) = begin(&calm);
    step(&calm, &session, json!({"action": "rollback", "component": "web"}));
    step(&calm, &session, json!({"action": "resolve"}));
    let calm = json_of(&calm, &["grade", &other])["verdicts"][0].clone();
    for world in ["impactNoop", "impactReference"] {
        let [with, without] = [&verdict, &calm].map(|of| of[world].as_f64().unwrap());
        assert!(with > without + 1.0, "{world}: {with} {without}");
    }

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.jsonl");
    let file = file.to_str().unwrap();
    told(&server, &["record", &episode, "--out", file]);
    let replayed = mayday(&["replay", file]);
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));
    let told = String::from_utf8(replayed.stdout).unwrap();
    assert!(told.contains("control:") && told.contains(&format!("score {score:.3}")), "{told}");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn forks_part_where_they_are_told_and_are_compared() {
    // Without records, as a server is by default.
    let server = serve(&[], None);
    let (session, episode) = begin(&server);
    step(&server, &session, json!({"action": "wait", "seconds": 120}));
    step(&server, &session, json!({"action": "wait", "seconds": 60}));
    let rollback = r#"{"action": "rollback", "component": "web"}"#;
    let early = json_of(&server, &["fork", &episode, "--tick", "30", "--action", rollback]);
    assert_eq!((&early["tick"], &early["steps"]), (&json!("60"), &json!(1)), "{early}");
    let late = json_of(&server, &["fork", &episode, "--action", rollback]);
    assert_eq!((&late["tick"], &late["steps"]), (&json!("210"), &json!(3)), "{late}");
    let same = json_of(&server, &["reset", &episode]);
    assert_eq!((&same["tick"], &same["steps"]), (&json!("0"), &json!(0)));
    let name = |of: &Value| of["episode"].as_str().unwrap().to_string();
    let graded = json_of(&server, &["grade", &name(&early), &name(&late), &name(&same), &episode]);
    let scores: Vec<_> = graded["verdicts"].as_array().unwrap().iter().collect();
    let score = |at: usize| scores[at]["score"].as_f64().unwrap();
    assert!(score(0) > score(1) && score(1) > score(2) + 0.2, "{graded}");
    assert!(score(2) < 1e-9 && score(3) < 1e-9, "{graded}");
    assert!(
        scores
            .iter()
            .all(|one| one["over"] == json!(false) && one["impactNoop"] == scores[0]["impactNoop"])
    );
    // The other one is as it was: the same actions give the same.
    let replayed = json_of(&server, &["fork", &episode, "--step", "2"]);
    let show = |of: &str| call(&server, "Show", &json!({"episode": of}));
    assert_eq!(show(&name(&replayed))["impact"], show(&episode)["impact"]);
    assert_eq!(show(&episode)["steps"], json!(2));

    let over = json_of(&server, &["abandon", &name(&late)]);
    assert_eq!(over["verdict"]["over"], json!(true));
    let again = json_of(&server, &["grade", &name(&late)]);
    assert_eq!(again["verdicts"][0]["score"], over["verdict"]["score"]);
    for (args, says) in [
        (vec!["fork", &name(&late)], "name the step or tick"),
        (vec!["fork", &episode, "--tick", "181"], "expected 0 to 180"),
        (vec!["fork", &episode, "--step", "3"], "expected 0 to 2"),
        (vec!["fork", &episode, "--action", r#"{"action":"rollbak"}"#], "did you mean"),
        (vec!["advance", &episode, "420"], "expected 1 to 419"),
        (vec!["advance", &name(&late), "1"], "the episode is over (abandoned)"),
        (vec!["inject", &episode, "slow_dependency", "--on", "wub", "factor=2"], "`web`"),
        (vec!["inject", &episode, "slow_dependency", "--on", "web", "factor=x"], "`factor`"),
        (vec!["inject", &episode, "server.slow", "--lever", "--on", "web"], "`factor`"),
        (vec!["clear", &episode, "7"], "expected one of none"),
        (vec!["inspect", &episode, "wab"], "did you mean `web`?"),
        (vec!["show", "77"], "unknown episode"),
        (vec!["show", "x"], "is no name of an episode"),
        (vec!["faults", "slow_dependancy"], "did you mean `slow_dependency`?"),
    ] {
        let output = ctl(&server, &args.iter().map(|arg| &**arg).collect::<Vec<_>>());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {said}");
    }
    // A fork that came to nothing left nothing behind.
    let listed = json_of(&server, &["list"]);
    assert_eq!(listed["episodes"].as_array().unwrap().len(), 5, "{listed}");
    told(&server, &["forget", &name(&early)]);
    assert_eq!(ctl(&server, &["forget", &name(&early)]).status.code(), Some(1));
    told_to_people(&server, &episode);
    assert_eq!(server.stop(), Some(0));
}

/// What the commands print without `--json`.
fn told_to_people(server: &Server, episode: &str) {
    for (args, says) in [
        (&["list"][..], "broken-release"),
        (&["show", episode], "180 of 600 s"),
        (&["faults", "--levers"], "server.slow"),
        (&["faults", "slow_dependency"], "required"),
        (&["inspect", episode, "web"], "pulled: server.version"),
        (&["grade", episode], "if left now"),
        (
            &["inject", episode, "edge.loss", "--lever", "--on", "gateway -> web", "ratio=30%"],
            "ratio=0.3",
        ),
    ] {
        let text = told(server, args);
        assert!(text.contains(says), "{args:?}: {text}");
    }
}

#[test]
fn a_token_guards_every_way_in() {
    let server = serve(&[], Some(TOKEN));
    let address = server.address("control");
    let list = format!("{CONTROL}ListRecords");
    let bearer = format!("Bearer {TOKEN}");
    for (method, path, headers, status, says) in [
        ("POST", &*list, vec![JSON], 401, "no token"),
        ("POST", &list, vec![JSON, ("x-mayday-token", "wrong")], 401, "a wrong token"),
        ("POST", &list, vec![JSON, ("x-mayday-token", TOKEN)], 200, "records"),
        ("POST", &list, vec![JSON, ("authorization", &bearer)], 200, "records"),
        ("GET", "/metrics", vec![], 401, "no token"),
        ("GET", "/metrics", vec![("authorization", &*bearer)], 200, "mayday_steps_total"),
    ] {
        let (got, _, body) = http(&address, method, path, &headers, "");
        assert_eq!(got, status, "{path} {headers:?}: {body}");
        assert!(body.contains(says), "{path} {headers:?}: {body}");
    }
    let bare = ctl(&server, &["list"]);
    let said = String::from_utf8_lossy(&bare.stderr);
    assert!(bare.status.code() == Some(1) && said.contains("set MAYDAY_TOKEN"), "{said}");
    let shown = command(&["ctl", "--control", &address, "list"])
        .env("MAYDAY_TOKEN", TOKEN)
        .output()
        .unwrap();
    assert!(shown.status.success());
    assert_eq!(server.stop(), Some(0));
    let nobody = mayday(&["ctl", "--control", &address, "list"]);
    let said = String::from_utf8_lossy(&nobody.stderr);
    assert!(nobody.status.code() == Some(1) && said.contains("start `mayday serve`"), "{said}");
}

#[test]
fn the_mirror_says_what_is_wrong_with_a_request() {
    let server = serve(&[], None);
    let address = server.address("control");
    let show = format!("{CONTROL}Show");
    let text = ("content-type", "text/plain");
    let large = format!(r#"{{"episode":"{}"}}"#, "x".repeat(5 << 20));
    for (method, path, headers, body, status, says) in [
        ("POST", &*show, vec![JSON], r#"{"episode":"7"}"#, 404, "unknown episode"),
        ("POST", &show, vec![JSON], r#"{"episode":7}"#, 400, "ShowRequest"),
        ("POST", &show, vec![JSON], r#"{"epizode":"7"}"#, 400, "epizode"),
        ("POST", &show, vec![JSON], r#"{"episode":"#, 400, "EOF"),
        ("POST", &show, vec![JSON], &large, 400, "most"),
        ("POST", &show, vec![text], "{}", 415, "application/json"),
        ("GET", &show, vec![], "", 405, "POST"),
        ("POST", "/mayday.orchestrator.v1.Control/Sow", vec![JSON], "{}", 404, "Control/Show"),
        ("POST", "/mayday.control.v1.Component/Drop", vec![JSON], "{}", 404, "no such method"),
        ("GET", "/", vec![], "", 404, "/metrics"),
        ("GET", "/nothing", vec![], "", 404, "/metrics"),
        ("POST", &show, vec![JSON, ("origin", "http://evil")], "{}", 403, "browsers"),
    ] {
        let (got, head, answer) = http(&address, method, path, &headers, body);
        assert_eq!(got, status, "{path} {body:.80}: {answer}");
        assert!(answer.contains(says), "{path} {body:.80}: {answer}");
        assert!(head.contains("content-type: application/json"), "{head}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer["code"].is_string() && answer["message"].is_string(), "{answer}");
    }
    assert_eq!(server.stop(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn nothing_of_it_is_at_the_agents_port() {
    let server = serve(&[], None);
    let (_, episode) = begin(&server);
    let (agents, control) = (server.address("agents"), server.address("control"));
    let (_, _, index) = http(&control, "GET", "/", &[], "");
    let index: Value = serde_json::from_str(&index).unwrap();
    let paths = index["message"].as_str().unwrap().split([' ', ',']).filter(|w| w.contains('.'));
    let paths: Vec<_> = paths.collect();
    assert!(paths.len() > 20, "{paths:?}");
    for path in paths.into_iter().chain(["/metrics"]) {
        for method in ["POST", "GET"] {
            let body = json!({"episode": episode}).to_string();
            let (status, _, answer) = http(&agents, method, path, &[JSON], &body);
            assert!(status == 404 || status == 405, "{path}: {status} {answer}");
        }
    }
    let mut there = ControlClient::connect(format!("http://{control}")).await.unwrap();
    assert!(there.show(ShowRequest { episode: episode.clone() }).await.is_ok());
    let here = ControlClient::connect(format!("http://{agents}")).await;
    if let Ok(mut here) = here {
        assert!(here.show(ShowRequest { episode }).await.is_err());
    }
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_server_that_is_drained_begins_nothing_and_plays_on() {
    let mut server = serve(&[], None);
    let (session, _) = begin(&server);
    let said = told(&server, &["drain"]);
    assert!(said.contains("1 are live"), "{said}");
    let body = json!({"seed": 6}).to_string();
    let (status, _, answer) = http(&server.address("agents"), "POST", "/reset", &[JSON], &body);
    assert!(status != 200 && answer.contains("being drained"), "{status} {answer}");
    step(&server, &session, json!({"action": "wait", "seconds": 1}));
    assert!(told(&server, &["drain", "--resume"]).contains("begin again"));
    agent(&server, "/reset", "", &json!({"seed": 6}));
    told(&server, &["drain", "--stop"]);
    assert_eq!(wait(&mut server.child), Some(0));
}

/// Samples of a page, by name with labels. Every line has to be what the format allows.
fn samples(page: &str) -> std::collections::BTreeMap<String, f64> {
    let (mut samples, mut types) = (std::collections::BTreeMap::new(), Vec::new());
    for line in page.lines() {
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert!(["counter", "gauge"].contains(&kind) && name.starts_with("mayday_"), "{line}");
            types.push(name.to_string());
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let family = name.split('{').next().unwrap();
            assert_eq!(types.last().map(String::as_str), Some(family), "{line}");
            let before = samples.insert(name.to_string(), value.parse().unwrap());
            assert!(before.is_none(), "twice: {line}");
        }
    }
    assert_eq!(types.iter().collect::<std::collections::BTreeSet<_>>().len(), types.len());
    samples
}

/// The official Python parser, if it can be had.
fn parsed_by_python(page: &str, parser: &str) -> Option<usize> {
    let program = format!(
        "import sys; from prometheus_client.{parser} import text_string_to_metric_families as p; \
         print(sum(len(f.samples) for f in p(sys.stdin.read())))"
    );
    #[expect(clippy::disallowed_methods, reason = "names the interpreter that has the package")]
    let python = std::env::var("MAYDAY_PYTHON").unwrap_or_else(|_| "python3".into());
    let can = std::process::Command::new(&python).args(["-c", "import prometheus_client"]).output();
    if !can.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let mut child = std::process::Command::new(&python)
        .args(["-c", &program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{parser} refuses the page");
    Some(String::from_utf8(output.stdout).unwrap().trim().parse().unwrap())
}

#[test]
fn metrics_count_what_happened() {
    let server = serve(&["--records", "memory", "--max-sessions", "7"], None);
    let (session, episode) = begin(&server);
    step(&server, &session, json!({"action": "wait", "seconds": 1}));
    let body = json!({"action": {"action": "wait", "seconds": -1}}).to_string();
    let headers = [JSON, ("openenv-session-id", &*session)];
    assert_eq!(http(&server.address("agents"), "POST", "/step", &headers, &body).0, 422);
    told(&server, &["inject", &episode, "slow_dependency", "--on", "web", "factor=2"]);
    step(&server, &session, json!({"action": "resolve"}));
    let control = server.address("control");
    let (status, head, page) = http(&control, "GET", "/metrics", &[], "");
    assert!(status == 200 && head.contains("text/plain; version=0.0.4"), "{head}");
    let counted = samples(&page);
    for (name, value) in [
        ("mayday_resets_total", 1.0),
        ("mayday_steps_total", 2.0),
        ("mayday_episodes_ended_total{reason=\"resolved\"}", 1.0),
        ("mayday_episodes_ended_total{reason=\"horizon\"}", 0.0),
        ("mayday_errors_total{kind=\"wrong\"}", 1.0),
        ("mayday_errors_total{kind=\"failed\"}", 0.0),
        ("mayday_control_orders_total{kind=\"inject\"}", 1.0),
        ("mayday_episodes_live", 1.0),
        ("mayday_sessions_max", 7.0),
        ("mayday_heals_total", 0.0),
        ("mayday_record_write_failures_total", 0.0),
        ("mayday_export_errors_total{signal=\"traces\"}", 0.0),
        ("mayday_draining", 0.0),
    ] {
        assert_eq!(counted.get(name), Some(&value), "{name}\n{page}");
    }
    assert!(counted["mayday_record_writes_total"] >= 4.0, "{page}");
    let open = [("accept", "application/openmetrics-text; version=1.0.0")];
    let (_, head, open) = http(&control, "GET", "/metrics", &open, "");
    assert!(head.contains("application/openmetrics-text") && open.ends_with("# EOF\n"), "{open}");
    let parsed = [("parser", &page), ("openmetrics.parser", &open)]
        .map(|(parser, page)| parsed_by_python(page, parser));
    match parsed {
        [None, None] => skip(
            "metrics_count_what_happened (by prometheus_client)",
            "no python3 with the package prometheus_client; MAYDAY_PYTHON may name one",
        ),
        both => assert_eq!(both, [Some(counted.len()); 2]),
    }
    assert_eq!(server.stop(), Some(0));
}
