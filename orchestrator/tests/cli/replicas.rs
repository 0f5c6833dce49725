//! Several `mayday serve` over one PostgreSQL: an agent's session outlives the process that it
//! began in, with and without a balancer in front.

use crate::kit::{self, LIBRARY, Server, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SESSION: &str = "openenv-session-id";
const PLAN: [&str; 5] = [
    r#"{"action":"metrics","component":"web"}"#,
    r#"{"action":"wait","seconds":30}"#,
    r#"{"action":"rollback","component":"web"}"#,
    r#"{"action":"wait","seconds":60}"#,
    r#"{"action":"resolve"}"#,
];
const BALANCER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/balancer/haproxy.cfg");

fn replica(db: &str) -> Server {
    let args = ["serve", "--listen", "127.0.0.1:0", "--control", "off", "--library", LIBRARY];
    Server::start(&[&args[..], &["--records", db]].concat(), None)
}

/// What was answered.
#[derive(Clone, Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Value,
}

impl Answer {
    /// A header's value.
    fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim().to_string())
    }
}

/// One request on a connection of its own; `None`: nobody answered it.
fn ask(address: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(kit::DEADLINE)).ok()?;
    let body = body.to_string();
    let mut text = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all((text + &body).as_bytes()).ok()?;
    let mut read = Vec::new();
    stream.read_to_end(&mut read).ok()?;
    let read = String::from_utf8(read).ok()?;
    let (head, body) = read.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let body = serde_json::from_str(body).unwrap_or_default();
    Some(Answer { status, head: head.to_string(), body })
}

/// Begins an episode: the answer, and the session.
fn reset(address: &str, seed: u64) -> (Answer, String) {
    let answer = ask(address, "/reset", &[], &json!({"seed": seed})).expect("an answer");
    assert_eq!(answer.status, 200, "{answer:?}");
    let session = answer.header(SESSION).expect("a session");
    (answer, session)
}

fn step(address: &str, session: &str, at: usize) -> Option<Answer> {
    let action: Value = serde_json::from_str(PLAN[at]).unwrap();
    ask(address, "/step", &[(SESSION, session)], &json!({"action": action}))
}

/// What an episode comes to whose process is left alone.
fn undisturbed(db: &str) -> Vec<Value> {
    let server = replica(db);
    let address = server.address("agents");
    let (first, session) = reset(&address, 5);
    let mut seen = vec![first.body];
    for at in 0..PLAN.len() {
        let answer = step(&address, &session, at).expect("an answer");
        assert_eq!(answer.status, 200, "{answer:?}");
        seen.push(answer.body);
    }
    assert_eq!(server.stop(), Some(0));
    seen
}

/// The state of a session, without what names this very episode.
fn state(address: &str, session: &str) -> Value {
    let mut stream = TcpStream::connect(address).unwrap();
    let head =
        format!("GET /state HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{SESSION}: {session}");
    stream.write_all((head + "\r\n\r\n").as_bytes()).unwrap();
    let mut read = String::new();
    stream.read_to_string(&mut read).unwrap();
    serde_json::from_str(read.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn a_session_goes_on_at_another_replica_after_a_kill() {
    let test = "a session goes on at another replica after a kill";
    let Some(db) = crate::postgres::database(test) else { return };
    let expected = undisturbed(&db);
    let (mut a, b) = (replica(&db), replica(&db));
    let (at_a, at_b) = (a.address("agents"), b.address("agents"));
    let (first, session) = reset(&at_a, 5);
    assert_eq!(first.body, expected[0]);
    assert_eq!(step(&at_a, &session, 0).unwrap().body, expected[1]);
    let before = state(&at_a, &session);
    a.kill();
    let after = state(&at_b, &session);
    for field in ["record", "task", "step_count", "session_id", "done"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    for at in 1..PLAN.len() {
        let answer = step(&at_b, &session, at).unwrap();
        assert_eq!((answer.status, answer.body), (200, expected[at + 1].clone()), "step {at}");
    }
    // It is over, everywhere and for good; and a session that never was is still unknown.
    let c = replica(&db);
    let over = step(&c.address("agents"), &session, 0).unwrap();
    assert_eq!(over.body["done"], true, "{over:?}");
    let unknown = step(&at_b, "6a2f41a3-c54c-4cf2-8a5f-1a2b3c4d5e6f", 0).unwrap();
    assert_eq!(unknown.status, 404);
    let (_, again) = reset(&at_b, 6);
    assert_ne!(again, session);
}

#[test]
fn a_replica_that_was_frozen_goes_on_with_what_became_of_its_session() {
    let test = "a replica that was frozen";
    let Some(db) = crate::postgres::database(test) else { return };
    let expected = undisturbed(&db);
    let (a, b) = (replica(&db), replica(&db));
    let (at_a, at_b) = (a.address("agents"), b.address("agents"));
    let (_, session) = reset(&at_a, 5);
    assert_eq!(step(&at_a, &session, 0).unwrap().body, expected[1]);
    kit::signal(&a.child, Signal::STOP);
    for at in 1..3 {
        assert_eq!(step(&at_b, &session, at).unwrap().body, expected[at + 1]);
    }
    kit::signal(&a.child, Signal::CONT);
    // What it wants to add is refused; it says so, and knows better from then on.
    let refused = step(&at_a, &session, 3).unwrap();
    assert_eq!(refused.status, 503, "{refused:?}");
    assert_eq!(step(&at_a, &session, 3).unwrap().body, expected[4]);
    assert_eq!(state(&at_a, &session)["step_count"], 4);
    assert_eq!(step(&at_b, &session, 4).unwrap().status, 503);
    assert_eq!(step(&at_b, &session, 4).unwrap().body, expected[5]);
    // The end is heard of, too.
    assert_eq!(step(&at_a, &session, 4).unwrap().status, 503);
    let over = step(&at_a, &session, 4).unwrap();
    assert_eq!((over.status, &over.body["done"]), (200, &json!(true)), "{over:?}");
}

/// A balancer over these replicas, killed when it is dropped.
struct Balancer {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Balancer {
    /// The configuration that is shipped, with these replicas and a port of its own.
    fn start(replicas: &[String]) -> Balancer {
        let folder = tempfile::tempdir().unwrap();
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let mut command = Command::new("haproxy");
        command.args(["-db", "-f", BALANCER]).env("MAYDAY_BALANCER", &address);
        for (n, replica) in (1..).zip(replicas) {
            command.env(format!("MAYDAY_REPLICA_{n}"), replica);
        }
        let path = folder.path().join("log");
        let log = std::fs::File::create(&path).unwrap();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let child = command.spawn().unwrap();
        let mut balancer = Balancer { child, address, _folder: folder };
        until("the balancer knows its replicas", || {
            if let Ok(Some(ended)) = balancer.child.try_wait() {
                panic!("{ended}: {}", std::fs::read_to_string(&path).unwrap_or_default());
            }
            ask(&balancer.address, "/reset", &[], &json!({"seed": 1}))
                .filter(|answer| answer.status == 200)
        });
        balancer
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn has_haproxy(test: &str) -> bool {
    let there = Path::new("/usr/sbin/haproxy").exists()
        || Command::new("haproxy").arg("-v").output().is_ok();
    if !there {
        kit::skip(test, "haproxy is not installed");
    }
    there
}

#[test]
fn behind_a_balancer_a_killed_replica_costs_no_episode() {
    let test = "behind a balancer a killed replica costs no episode";
    if !has_haproxy(test) {
        return;
    }
    let Some(db) = crate::postgres::database(test) else { return };
    let expected = undisturbed(&db);
    let mut replicas = [Some(replica(&db)), Some(replica(&db)), Some(replica(&db))];
    let addresses = replicas.each_ref().map(|one| one.as_ref().unwrap().address("agents"));
    let balancer = Balancer::start(&addresses);
    let mut sessions: Vec<_> = (0..12).map(|_| reset(&balancer.address, 5)).collect();
    let served_by = |answer: &Answer| answer.header("mayday-replica").expect("named");
    let mut first: Vec<_> = sessions.iter().map(|(answer, _)| served_by(answer)).collect();
    let all: std::collections::BTreeSet<_> = first.iter().cloned().collect();
    assert_eq!(all.len(), 3, "the load is spread: {first:?}");
    for at in 0..PLAN.len() {
        if at == 2 {
            // In the middle of all episodes.
            replicas[0].take().unwrap().kill();
        }
        for (n, (last, session)) in sessions.iter_mut().enumerate() {
            let answer = until("the step is taken", || {
                let answer = step(&balancer.address, session, at)?;
                (answer.status != 502 && answer.status != 503).then_some(answer)
            });
            assert_eq!((answer.status, &answer.body), (200, &expected[at + 1]), "{n}, step {at}");
            if at < 2 {
                assert_eq!(served_by(&answer), first[n], "a session stays where it is");
            }
            first[n] = served_by(&answer);
            *last = answer;
        }
    }
    assert!(sessions.iter().all(|(last, _)| last.body["done"] == true));
    let listed = kit::json(&["records", "list", "--json", "--records", &db]);
    let whole = listed.as_array().unwrap().iter().filter(|one| one["steps"] == 5);
    assert_eq!(whole.count(), 13, "no step was taken twice");
    assert!(!first.contains(&"replica1".to_string()), "{first:?}");
}
