//! The same world in one process per kind.

use crate::kit::{DEADLINE, Server, command, episode, json, mayday, run};
use mayday::supervisor::{Plan, Supervisor};
use serde_json::Value;
use std::time::Instant;

const BATCH: [&str; 7] =
    ["--agents", "reference,random", "--seeds", "1", "--json", "--threads", "2"];

#[test]
fn components_in_processes_give_the_same_document() {
    let embedded = json(&run(&BATCH));
    let up = Server::start(&["up", "--json"], None);
    let components = up.said["components"].as_object().unwrap();
    assert!(components.len() >= 6, "{components:?}");
    let list: Vec<_> =
        components.iter().map(|(kind, at)| format!("{kind}={}", at.as_str().unwrap())).collect();
    let args = run(&[&BATCH[..], &["--fleet", "remote"]].concat());
    let play = |token: &str| {
        let mut command = command(&args);
        command.env("MAYDAY_COMPONENTS", list.join(",")).env("MAYDAY_TOKEN", token);
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
    let one = components.values().next().unwrap().as_str().unwrap().to_string();
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

#[tokio::test]
async fn a_process_that_dies_comes_back_at_its_address() {
    let plan = Plan {
        program: env!("CARGO_BIN_EXE_mayday").into(),
        kinds: vec!["app".into(), "db".into()],
        token: "s3cret".into(),
        log: Some("error".into()),
    };
    let mut supervisor = Supervisor::start(plan).await.unwrap();
    let (addresses, before) = (supervisor.addresses(), supervisor.processes());
    let (_, id) = before.iter().find(|(kind, _)| kind == "db").unwrap();
    let id = rustix::process::Pid::from_raw(i32::try_from(*id).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    let db = addresses["db"].clone();
    let deadline = Instant::now() + DEADLINE;
    loop {
        // Looked after for a while, then looked at.
        let while_watched =
            tokio::time::timeout(std::time::Duration::from_millis(100), supervisor.watch());
        assert!(while_watched.await.is_err(), "watching never ends");
        let now = supervisor.processes();
        if now.len() == 2 && now != before && chassis::probe(&db).await.is_ok() {
            break;
        }
        assert!(Instant::now() < deadline, "{now:?}");
    }
    assert_eq!(supervisor.addresses(), addresses);
    supervisor.stop().await;
    for address in addresses.values() {
        assert!(chassis::probe(address).await.is_err(), "{address} still serves");
    }
}
