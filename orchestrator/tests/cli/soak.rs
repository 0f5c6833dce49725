//! Many sessions at once for a long time, then many resets: memory stays flat, no place is lost,
//! nobody gets an error. Short unless `MAYDAY_SOAK` is set.

use crate::kit::{LIBRARY, Server, until};
use mayday::bench::Herd;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How much of it.
struct Soak {
    sessions: usize,
    time: Duration,
    resets: usize,
}

impl Soak {
    #[expect(clippy::disallowed_methods, reason = "the switch to the whole of it")]
    fn wanted() -> Soak {
        match std::env::var_os("MAYDAY_SOAK") {
            Some(_) => Soak { sessions: 1000, time: Duration::from_secs(600), resets: 10_000 },
            None => Soak { sessions: 60, time: Duration::from_secs(3), resets: 300 },
        }
    }
}

/// A sample of the page of metrics.
fn metric(server: &Server, name: &str) -> f64 {
    let mut stream = TcpStream::connect(server.address("control")).unwrap();
    let request = "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    let sample = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    sample.unwrap_or_else(|| panic!("no {name} in {page}")).trim().parse().unwrap()
}

/// Resident memory of the server, MiB.
fn memory(server: &Server) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}

/// What it has grown to has to be near what it was when everything had happened once.
fn assert_flat(what: &str, once: f64, now: f64) {
    assert!(now <= 1.2 * once + 24.0, "{what}: {once:.0} MiB have become {now:.0} MiB");
}

fn emptied(server: &Server) {
    until("every place is free", || (metric(server, "mayday_sessions") == 0.0).then_some(()));
    until("no episode is live", || (metric(server, "mayday_episodes_live") == 0.0).then_some(()));
}

/// So many sessions play for so long; the rounds of episodes, and all steps.
async fn hold(server: &Server, sessions: usize, time: Duration) -> (usize, usize) {
    let agents = server.address("agents");
    let wait = json!({"action": "wait", "seconds": 5});
    let look = json!({"action": "metrics", "component": "web"});

    let begin = Instant::now();
    let mut herd = Herd::connect(&agents, sessions).await.unwrap();
    assert_eq!(metric(server, "mayday_sessions"), sessions as f64);
    let (mut rounds, mut steps, mut once) = (0, 0, 0.0);
    while rounds < 2 || begin.elapsed() < time {
        herd.reset(|agent| json!({"seed": agent})).await.unwrap();
        for action in [&wait, &look, &wait] {
            steps += herd.step(action, 5).await.unwrap().len();
        }
        rounds += 1;
        if rounds == 2 {
            once = memory(server);
        }
    }
    let now = memory(server);
    let seconds = begin.elapsed().as_secs();
    assert_eq!(metric(server, "mayday_sessions"), sessions as f64);
    say(format_args!(
        "soak: {sessions} sessions, {seconds} s, {rounds} rounds, {steps} steps; memory after two \
         rounds {once:.0} MiB, at the end {now:.0} MiB"
    ));
    assert_flat("sessions", once, now);
    herd.leave().await;
    emptied(server);
    (rounds, steps)
}

/// So many resets, each of a world that nobody has seen.
async fn begin_anew(server: &Server, sessions: usize, resets: usize) -> usize {
    let agents = server.address("agents");
    let mut herd = Herd::connect(&agents, sessions).await.unwrap();
    let each = resets.div_ceil(sessions);
    let (mut once, mut took) = (0.0, 0);
    for round in 0..each {
        let seed = |agent: usize| -> Value { json!({"seed": 1_000_000 + 1000 * round + agent}) };
        took += herd.reset(seed).await.unwrap().len();
        if round == each / 10 {
            once = memory(server);
        }
    }
    let now = memory(server);
    say(format_args!(
        "soak: {took} resets; memory after a tenth {once:.0} MiB, at the end {now:.0} MiB"
    ));
    assert_flat("resets", once, now);
    herd.leave().await;
    emptied(server);
    took
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn many_sessions_for_long_and_many_resets() {
    let Soak { sessions, time, resets } = Soak::wanted();
    let most = sessions.to_string();
    let server = Server::start(
        &[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--control",
            "127.0.0.1:0",
            "--library",
            LIBRARY,
            "--max-sessions",
            &most,
        ],
        None,
    );
    let (rounds, steps) = hold(&server, sessions, time).await;
    let took = begin_anew(&server, sessions.min(100), resets).await;
    // Every place can be taken again.
    let agents = server.address("agents");
    Herd::connect(&agents, sessions).await.unwrap().leave().await;
    for kind in ["unknown", "wrong", "not_now", "full", "failed"] {
        let name = format!("mayday_errors_total{{kind=\"{kind}\"}}");
        assert_eq!(metric(&server, &name), 0.0, "{name}");
    }
    assert_eq!(metric(&server, "mayday_resets_total"), (rounds * sessions + took) as f64);
    assert_eq!(metric(&server, "mayday_steps_total"), steps as f64);
    assert_eq!(server.stop(), Some(0));
}

/// Past the capture of the test runner: a figure that nobody reads is none.
fn say(text: std::fmt::Arguments<'_>) {
    // A harness that has closed its own stderr reads nothing.
    let _ = std::io::stderr().write_fmt(format_args!("{text}\n"));
}
