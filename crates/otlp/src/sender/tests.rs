//! The sender against collectors in this process: well-behaved, busy, silent and absent ones.

use super::*;
use crate::call::Call;
use crate::call::tests::{reply, request};
use crate::config::Environment;
use crate::scene::Scene;
use crate::scene::tests::topology;
use crate::scribe::{Level, Line, Scribe, Style, Window};
use crate::stats::Counts;
use collector::{Collector, Manners};
use model::{EpisodeId, InstanceId, Severity, Tick};

/// Nothing in these tests takes so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// One request per signal.
fn payloads() -> Vec<Payload> {
    let scene = Scene::new(&topology(), EpisodeId(3));
    let calls = Call::of(&scene, &request(), &reply());
    let (instance, tick, severity) = (InstanceId(3), Tick(5), Severity::Info);
    let (replica, message) = ("login-stable-0".into(), "key rotated".into());
    let line = Line { instance, tick, severity, replica, message, trace: 0 };
    let (signal, unit) = ("requests.rate".into(), "{request}/s".into());
    let level = Level { instance, signal, unit, value: 12.5 };
    Scribe::new(scene, Tick(0), Style::default()).write(Window {
        from: Tick(0),
        to: Tick(10),
        calls,
        lines: vec![line],
        levels: vec![level],
        last: true,
    })
}

fn config(endpoint: &str, variables: &[(&str, &str)]) -> Config {
    let owned = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
    let environment = Environment::new(variables.iter().map(owned));
    Config::new(Some(endpoint), &environment).unwrap().unwrap()
}

const GRPC: (&str, &str) = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");

/// What became of everything, and the counts of one signal.
async fn send(config: &Config, payloads: &[Payload], patience: Duration) -> [Counts; 3] {
    let sender = Sender::start(config).unwrap();
    for payload in payloads {
        sender.offer(payload.clone(), Overflow::Wait).await;
    }
    sender.finish(Overflow::Wait, patience).await;
    Signal::ALL.map(|signal| sender.stats().counts(signal))
}

fn taken(sent: u64) -> Counts {
    Counts { sent, ..Counts::default() }
}

#[tokio::test]
async fn both_protocols_carry_the_same_bytes_with_and_without_compression() {
    let sent = payloads();
    for gzip in ["none", "gzip"] {
        let common = [
            ("OTEL_EXPORTER_OTLP_COMPRESSION", gzip),
            ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b"),
        ];
        for grpc in [true, false] {
            let collector = match grpc {
                true => Collector::grpc(Manners::default()),
                false => Collector::http(Manners::default()),
            };
            let mut variables = common.to_vec();
            variables.extend(grpc.then_some(GRPC));
            let config = config(&collector.endpoint(), &variables);
            let counts = send(&config, &sent, PATIENCE).await;
            assert_eq!(counts, [taken(1); 3], "grpc {grpc}, {gzip}");
            for payload in &sent {
                let name = payload.signal().name();
                assert_eq!(collector.bytes(name), [payload.encode()], "{name}, grpc {grpc}");
            }
            let all = collector.taken();
            assert!(all.iter().all(|one| one.headers["api-key"] == "a b"));
        }
    }
}

#[tokio::test]
async fn a_busy_collector_is_asked_again_and_rejections_are_counted() {
    for grpc in [true, false] {
        let manners = Manners { refuses: 2, rejects: 3, ..Manners::default() };
        let collector = if grpc { Collector::grpc(manners) } else { Collector::http(manners) };
        let variables: Vec<_> = grpc.then_some(GRPC).into_iter().collect();
        let config = config(&collector.endpoint(), &variables);
        let counts = send(&config, &payloads()[..1], PATIENCE).await;
        assert_eq!(counts[0], Counts { sent: 1, rejected: 3, ..Counts::default() });
    }
}

#[tokio::test]
async fn an_absent_collector_is_counted() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for variables in [vec![GRPC], vec![]] {
        let config = config(&format!("http://127.0.0.1:{port}"), &variables);
        let counts = send(&config, &payloads(), PATIENCE).await;
        let failed = Counts { failed: 1, ..Counts::default() };
        assert_eq!(counts, [failed; 3]);
        assert_eq!(failed.errors(), 1);
    }
}

#[tokio::test]
async fn what_a_silent_collector_does_not_answer_is_lost_and_nobody_waits_for_it() {
    for grpc in [true, false] {
        let manners = Manners { silent: true, ..Manners::default() };
        let collector = if grpc { Collector::grpc(manners) } else { Collector::http(manners) };
        let variables: Vec<_> = grpc.then_some(GRPC).into_iter().collect();
        let config = config(&collector.endpoint(), &variables);
        // Far less than a request may take: what is under way then counts as lost.
        let counts = send(&config, &payloads(), Duration::from_millis(50)).await;
        assert_eq!(counts, [Counts { failed: 1, ..Counts::default() }; 3], "grpc {grpc}");
    }
}

#[tokio::test]
async fn a_full_queue_drops_and_counts() {
    let manners = Manners { silent: true, ..Manners::default() };
    let collector = Collector::http(manners);
    let config = Config { queue: 2, ..config(&collector.endpoint(), &[]) };
    let sender = Sender::start(&config).unwrap();
    let payload = &payloads()[0];
    for _ in 0..10 {
        sender.offer(payload.clone(), Overflow::Drop).await;
    }
    sender.finish(Overflow::Drop, Duration::from_millis(50)).await;
    let counts = sender.stats().counts(Signal::Traces);
    // Two wait, and one more may be under way.
    assert!((7..=8).contains(&counts.dropped), "{counts:?}");
    assert_eq!(counts.dropped + counts.failed, 10);
    sender.offer(payload.clone(), Overflow::Drop).await;
    let after = sender.stats().counts(Signal::Traces);
    assert_eq!(after.errors(), 11, "after the end nothing is taken");
}

#[tokio::test]
async fn a_signal_that_nobody_wants_is_not_sent() {
    let collector = Collector::http(Manners::default());
    let config = config(&collector.endpoint(), &[("OTEL_LOGS_EXPORTER", "none")]);
    let counts = send(&config, &payloads(), PATIENCE).await;
    assert_eq!(counts, [taken(1), Counts::default(), taken(1)]);
    assert!(collector.bytes("logs").is_empty());
}
