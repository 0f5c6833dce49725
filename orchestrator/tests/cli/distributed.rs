//! The same world in one process per kind.

use crate::kit::{DEADLINE, Server, command, episode, json, mayday, run, until};
use proto::control::v1::DescribeRequest;
use proto::control::v1::component_client::ComponentClient;
use record::{Filter, SqliteStore, Store};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

const BATCH: [&str; 7] =
    ["--agents", "reference,random", "--seeds", "1", "--json", "--threads", "2"];

/// The processes that it started, as `MAYDAY_COMPONENTS`.
fn components(up: &Server) -> String {
    let components = up.said["components"].as_object().unwrap();
    let one = |(kind, at): (&String, &Value)| format!("{kind}={}", at.as_str().unwrap());
    components.iter().map(one).collect::<Vec<_>>().join(",")
}

fn address(up: &Server, kind: &str) -> String {
    up.said["components"][kind].as_str().unwrap().to_string()
}

#[test]
fn components_in_processes_give_the_same_document() {
    let embedded = json(&run(&BATCH));
    let up = Server::start(&["up", "--json"], None);
    let list = components(&up);
    let args = run(&[&BATCH[..], &["--fleet", "remote"]].concat());
    let play = |token: &str| {
        let mut command = command(&args);
        command.env("MAYDAY_COMPONENTS", &list).env("MAYDAY_TOKEN", token);
        command.output().unwrap()
    };
    let played = play(up.said["token"].as_str().unwrap());
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    let remote: Value = serde_json::from_slice(&played.stdout).unwrap();
    assert_eq!(episode(&remote, "random")["world"], episode(&embedded, "random")["world"]);
    assert_eq!(remote, embedded);
    let refused = play("guess");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("a wrong token"));
    let one = address(&up, "host");
    assert_eq!(mayday(&["health", &one]).status.code(), Some(0));
    assert_eq!(up.stop(), Some(0));
    assert_eq!(mayday(&["health", &one]).status.code(), Some(1), "the children ended, too");
}

#[test]
fn a_batch_starts_its_own_processes_where_none_are_named() {
    let batch = ["--agents", "noop", "--seeds", "1", "--json"];
    let remote = json(&run(&[&batch[..], &["--fleet", "remote"]].concat()));
    assert_eq!(remote, json(&run(&batch)));
}

/// In this order, each once.
const VICTIMS: [&str; 3] = ["app", "host", "gateway"];

/// SIGKILL to the first process of `kind`.
fn kill(up: &Server, kind: &str) {
    let id = up.said["processes"][kind].as_i64().and_then(|id| i32::try_from(id).ok());
    let id = id.and_then(rustix::process::Pid::from_raw).expect("an id");
    rustix::process::kill_process(id, rustix::process::Signal::KILL).expect("it runs");
}

/// Steps that are kept so far.
fn steps(db: &Path) -> u32 {
    let store = db.exists().then(|| SqliteStore::open(db).ok()).flatten();
    let kept = store.and_then(|store| store.list(&Filter::default()).ok());
    kept.unwrap_or_default().iter().map(|summary| summary.steps).sum()
}

#[test]
fn processes_that_die_in_the_middle_change_nothing() {
    let batch = ["--agents", "random", "--seeds", "4", "--json", "--threads", "2"];
    let embedded = json(&run(&batch));
    let up = Server::start(&["up", "--json"], Some("s3cret"));
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("records.db");
    let records = db.display().to_string();
    let args = run(&[&batch[..], &["--fleet", "remote", "--records", &records]].concat());
    let mut command = command(&args);
    command.env("MAYDAY_COMPONENTS", components(&up)).env("MAYDAY_TOKEN", "s3cret");
    let mut playing = command.stdout(Stdio::piped()).spawn().unwrap();
    for (at, kind) in VICTIMS.iter().enumerate() {
        let due = 8 * (at as u32 + 1);
        until("more steps are kept", || (steps(&db) >= due).then_some(()));
        assert!(playing.try_wait().unwrap().is_none(), "it was over before {kind} could die");
        kill(&up, kind);
    }
    let played = playing.wait_with_output().unwrap();
    assert!(played.status.success());
    assert_eq!(serde_json::from_slice::<Value>(&played.stdout).unwrap(), embedded);
    assert_eq!(up.stop(), Some(0));
}

#[test]
fn a_component_that_is_gone_for_good_is_named_while_it_is_asked_again() {
    let start = |kind: &str| {
        let server = Server::start(&["component", kind, "--listen", "127.0.0.1:0"], None);
        (kind.to_string(), server)
    };
    let mut started = ["app", "gateway", "host"].map(start);
    let peers: Vec<_> = started
        .iter()
        .map(|(kind, server)| format!("{kind}={}", server.said["address"].as_str().unwrap()))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("records.db");
    let records = db.display().to_string();
    // More than are over before the process is gone.
    let batch = ["--agents", "random", "--seeds", "500", "--threads", "2", "--records", &records];
    let mut args = run(&batch);
    peers.iter().for_each(|peer| args.extend(["--component", peer]));
    let mut playing = command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until("steps are kept", || (steps(&db) > 0).then_some(()));
    started[0].1.kill();
    let begun = Instant::now();
    let said = BufReader::new(playing.stderr.take().unwrap());
    let line = said.lines().map(|line| line.unwrap()).find(|line| line.contains("no answer"));
    let line = line.expect("somebody says so before the end");
    let address = peers[0].strip_prefix("app=").unwrap();
    assert!(line.contains(&format!("app at {address} gives no answer")), "{line}");
    assert!(begun.elapsed() < DEADLINE, "in time: {line}");
    playing.kill().unwrap();
    playing.wait().unwrap();
}

/// The life that the process at `address` is in; `None`: nobody answers.
async fn life(address: &str) -> Option<u64> {
    let channel = mesh::Channel::tcp(address).unwrap();
    let token = chassis::Token::new("s3cret").unwrap();
    let mut client = ComponentClient::new(channel.with_token(Some(token.header())));
    Some(client.describe(DescribeRequest {}).await.ok()?.into_inner().incarnation)
}

#[tokio::test]
async fn a_process_that_dies_comes_back_at_its_address() {
    let up = Server::start(&["up", "--json", "--kinds", "db,app"], Some("s3cret"));
    let (db, app) = (address(&up, "db"), address(&up, "app"));
    let (before, other) = (life(&db).await.unwrap(), life(&app).await.unwrap());
    kill(&up, "db");
    let deadline = Instant::now() + DEADLINE;
    while life(&db).await.is_none_or(|now| now == before) {
        assert!(Instant::now() < deadline, "it does not come back");
    }
    assert_eq!(life(&app).await, Some(other), "the others live on");
    assert_eq!(up.stop(), Some(0));
    for address in [db, app] {
        assert_eq!(life(&address).await, None, "{address} still serves");
    }
}
