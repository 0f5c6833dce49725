//! Simulated telemetry as a collector gets it: the same bytes for the same episode however it is
//! played, signals that agree with each other, none of the truth, and no harm from a collector
//! that is not there.

use crate::kit::{LIBRARY, Server, command, episode, json, mayday, out, run};
use collector::{Collector, Manners};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use proto::orchestrator::v1::episodes_client::EpisodesClient;
use proto::orchestrator::v1::{CreateRequest, ListScenariosRequest, StepRequest};
use std::collections::{BTreeMap, BTreeSet};

const ONE: [&str; 4] = ["--agents", "reference", "--seeds", "7..8"];
const SIGNALS: [&str; 3] = ["traces", "logs", "metrics"];
/// 2026-01-01T00:00:00Z, the page of every episode.
const PAGE: u64 = 1_767_225_600_000_000_000;

fn http() -> Collector {
    Collector::http(Manners::default())
}

/// What a collector was sent, signal by signal, in order.
fn all(collector: &Collector) -> [Vec<Vec<u8>>; 3] {
    SIGNALS.map(|signal| collector.bytes(signal))
}

/// Plays one episode of the laboratory; its telemetry and its id.
fn play(collector: &Collector, more: &[&str]) -> ([Vec<Vec<u8>>; 3], String) {
    let endpoint = collector.endpoint();
    let document = json(&run(&[&ONE[..], &["--json", "--otlp", &endpoint], more].concat()));
    let id = episode(&document, "reference")["episode"].as_str().expect("an id").to_string();
    (all(collector), id)
}

#[test]
fn an_episode_gives_the_same_bytes_in_every_body_over_every_protocol_and_when_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("records.db").display().to_string();
    let (expected, id) = play(&http(), &["--records", &db]);
    assert!(expected.iter().all(|signal| signal.len() > 10), "every signal was exported");
    assert_eq!(play(&http(), &[]).0, expected, "again");
    assert_eq!(play(&http(), &["--fleet", "remote"]).0, expected, "in processes");
    let grpc = Collector::grpc(Manners::default());
    let endpoint = grpc.endpoint();
    let mut played = command(&run(&[&ONE[..], &["--otlp", &endpoint]].concat()));
    played.env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    assert!(played.status().unwrap().success());
    assert_eq!(all(&grpc), expected, "over gRPC");
    let replayed = http();
    // The environment alone asks for it as well.
    let mut replay = command(&["replay", "--records", &db, &id]);
    replay.env("OTEL_EXPORTER_OTLP_ENDPOINT", replayed.endpoint());
    let said = replay.output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert_eq!(all(&replayed), expected, "replayed");
    let other = http();
    let endpoint = other.endpoint();
    let seed = ["--agents", "reference", "--seeds", "8..9", "--otlp", &endpoint];
    out(&run(&seed));
    assert_ne!(all(&other), expected, "another seed is another episode");
}

// The connections live on while the test waits for a process.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_session_gives_the_bytes_of_its_record_though_its_orchestrator_changed() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("records.db").display().to_string();
    let live = http();
    let endpoint = live.endpoint();
    let start = || {
        let place = ["--records", &db, "--otlp", &endpoint];
        let args = ["orchestrator", "--listen", "127.0.0.1:0", "--library", LIBRARY];
        Server::start(&[&args[..], &place].concat(), None)
    };
    let mut server = start();
    let address = format!("http://{}", server.address("orchestrator"));
    let mut calls = EpisodesClient::connect(address).await.unwrap();
    let tasks = calls.list_scenarios(ListScenariosRequest {}).await.unwrap().into_inner().tasks;
    let request = CreateRequest { task: tasks[0].task.clone(), seed: Some(5) };
    let episode = calls.create(request).await.unwrap().into_inner().episode;
    for action in [
        r#"{"action":"metrics","component":"web"}"#,
        r#"{"action":"rollback","component":"web"}"#,
        r#"{"action":"wait","seconds":47}"#,
        r#"{"action":"resolve"}"#,
    ] {
        // In order, so that nothing is left in a queue.
        assert_eq!(server.stop(), Some(0));
        server = start();
        let address = format!("http://{}", server.address("orchestrator"));
        let mut calls = EpisodesClient::connect(address).await.unwrap();
        let action_json = action.as_bytes().to_vec();
        let request = StepRequest { episode: episode.clone(), action_json, number: None };
        calls.step(request).await.unwrap();
    }
    assert_eq!(server.stop(), Some(0));
    let replayed = http();
    out(&["replay", &episode, "--records", &db, "--otlp", &replayed.endpoint()]);
    assert_eq!(all(&live), all(&replayed));
}

#[test]
fn a_message_is_followed_to_its_handler_with_the_same_bytes_in_every_body_and_when_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("records.db").display().to_string();
    let play = |more: &[&str]| {
        let collector = http();
        let endpoint = collector.endpoint();
        let courier = ["run", "overload/consumer-backlog", "--agents", "reference", "--seeds", "1"];
        let document = json(&[&courier[..], &["--json", "--otlp", &endpoint], more].concat());
        (episode(&document, "reference")["episode"].as_str().expect("an id").to_string(), collector)
    };
    let (id, first) = play(&["--records", &db]);
    assert_eq!(all(&play(&["--fleet", "remote"]).1), all(&first), "in processes");
    let replayed = http();
    out(&["replay", &id, "--records", &db, "--otlp", &replayed.endpoint()]);
    assert_eq!(all(&replayed), all(&first), "replayed");
    let seen = spans(&first);
    let by_id: BTreeMap<_, _> = seen.iter().map(|(of, s)| (&s.span_id, (of, s))).collect();
    let (mut waits, mut asked) = (Vec::new(), 0);
    for (service, span) in &seen {
        let Some((above, parent)) = by_id.get(&span.parent_span_id) else { continue };
        if span.kind == SpanKind::Consumer as i32 {
            assert_eq!(
                (service.as_str(), span.name.as_str()),
                ("label-jobs", "process label-jobs")
            );
            assert_eq!((above.as_str(), parent.name.as_str()), ("booking", "send label-jobs"));
            assert_eq!(parent.kind, SpanKind::Producer as i32);
            assert_eq!(
                (&parent.trace_id, &parent.span_id),
                (&span.trace_id, &span.links[0].span_id)
            );
            waits.push((span.start_time_unix_nano - parent.start_time_unix_nano) as f64 / 1e9);
        }
        if parent.kind == SpanKind::Consumer as i32 {
            assert_eq!((service.as_str(), span.kind), ("label-jobs", SpanKind::Client as i32));
            asked += 1;
        }
    }
    let (soon, late) = (waits.iter().filter(|w| **w < 2.0), waits.iter().filter(|w| **w > 15.0));
    assert!(soon.count() > 50 && late.count() > 10, "{waits:?}");
    assert!(asked > waits.len(), "handlers ask the database, twice for a booking");
}

/// All spans, with the names of their services.
fn spans(collector: &Collector) -> Vec<(String, Span)> {
    let mut all = Vec::new();
    for bytes in collector.bytes("traces") {
        for of in ExportTraceServiceRequest::decode(&*bytes).unwrap().resource_spans {
            let service = service(&of.resource);
            let spans = of.scope_spans.into_iter().flat_map(|scope| scope.spans);
            all.extend(spans.map(|span| (service.clone(), span)));
        }
    }
    all
}

/// Everything that was exported, taken apart.
#[derive(Default)]
struct Seen {
    /// Spans with the name of their service.
    spans: Vec<(String, Span)>,
    records: Vec<(String, LogRecord)>,
    /// The last count by service, method, side and status.
    counts: BTreeMap<(String, String, bool, String), u64>,
    /// Trace and span ids of exemplars.
    exemplars: Vec<(Vec<u8>, Vec<u8>)>,
    gauges: BTreeSet<String>,
    resources: Vec<Resource>,
}

fn text(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    match found.and_then(|attribute| attribute.value.clone()) {
        Some(AnyValue { value: Some(Value::StringValue(text)) }) => text,
        _ => String::new(),
    }
}

fn service(resource: &Option<Resource>) -> String {
    text(&resource.as_ref().unwrap().attributes, "service.name")
}

impl Seen {
    fn of(collector: &Collector) -> Seen {
        let mut seen = Seen { spans: spans(collector), ..Seen::default() };
        for bytes in collector.bytes("traces") {
            for of in ExportTraceServiceRequest::decode(&*bytes).unwrap().resource_spans {
                seen.resources.extend(of.resource);
            }
        }
        for bytes in collector.bytes("logs") {
            for of in ExportLogsServiceRequest::decode(&*bytes).unwrap().resource_logs {
                let service = service(&of.resource);
                let records = of.scope_logs.into_iter().flat_map(|scope| scope.log_records);
                seen.records.extend(records.map(|record| (service.clone(), record)));
            }
        }
        for bytes in collector.bytes("metrics") {
            seen.read_metrics(ExportMetricsServiceRequest::decode(&*bytes).unwrap());
        }
        seen
    }

    fn read_metrics(&mut self, request: ExportMetricsServiceRequest) {
        for of in request.resource_metrics {
            let service = service(&of.resource);
            for metric in of.scope_metrics.into_iter().flat_map(|scope| scope.metrics) {
                let Some(Data::Histogram(histogram)) = metric.data else {
                    self.gauges.insert(metric.name);
                    continue;
                };
                let client = metric.name == "rpc.client.call.duration";
                assert!(client || metric.name == "rpc.server.call.duration", "{}", metric.name);
                let mut counts: BTreeMap<_, u64> = BTreeMap::new();
                for point in histogram.data_points {
                    let method = text(&point.attributes, "rpc.method");
                    let status = text(&point.attributes, "rpc.response.status_code");
                    *counts.entry((service.clone(), method, client, status)).or_default() +=
                        point.count;
                    let ids = |e: opentelemetry_proto::tonic::metrics::v1::Exemplar| {
                        (e.trace_id, e.span_id)
                    };
                    self.exemplars.extend(point.exemplars.into_iter().map(ids));
                }
                self.counts.extend(counts);
            }
        }
    }
}

#[test]
fn spans_logs_and_metrics_tell_the_same_story() {
    // Half of the requests fail until the end.
    let collector = http();
    let endpoint = collector.endpoint();
    let args = ["--agents", "noop", "--seeds", "1", "--otlp", &endpoint, "--otlp-sample", "3"];
    out(&run(&args));
    let seen = Seen::of(&collector);
    let mut counts: BTreeMap<_, u64> = BTreeMap::new();
    for (service, span) in &seen.spans {
        let method = text(&span.attributes, "rpc.method");
        assert_eq!(span.name, method);
        let status = text(&span.attributes, "rpc.response.status_code");
        let client = span.kind == SpanKind::Client as i32;
        *counts.entry((service.clone(), method, client, status)).or_default() += 1;
    }
    assert_eq!(counts, seen.counts, "the histograms count the spans");
    let spans: BTreeMap<_, _> = seen.spans.iter().map(|(of, s)| (&s.span_id, (of, s))).collect();
    assert_eq!(spans.len(), seen.spans.len(), "no id twice");
    let roots = seen.spans.iter().filter(|(_, s)| s.parent_span_id.is_empty()).count();
    assert_eq!(roots, 3 * (300 + 600), "three requests per second of warm-up and incident");
    for (service, span) in &seen.spans {
        let Some((of, parent)) = spans.get(&span.parent_span_id) else {
            assert_eq!((service.as_str(), span.kind), ("gateway", SpanKind::Server as i32));
            assert_eq!(text(&span.attributes, "mayday.request.class"), "visit");
            continue;
        };
        assert_eq!(span.trace_id, parent.trace_id);
        assert_ne!(span.kind, parent.kind, "calls and their callees alternate");
        let same = *of == service;
        assert_eq!(same, span.kind == SpanKind::Client as i32, "a call leaves its service");
        assert!(span.start_time_unix_nano >= parent.start_time_unix_nano);
    }
    let first = seen.spans.iter().map(|(_, span)| span.start_time_unix_nano).min().unwrap();
    assert!((PAGE - 300_000_000_000..PAGE - 299_000_000_000).contains(&first), "{first}");
    let failed = seen.spans.iter().filter(|(_, s)| s.status.is_some());
    let failed: BTreeSet<_> = failed.map(|(_, s)| (&s.trace_id, &s.span_id)).collect();
    let told = seen.records.iter().filter(|(_, record)| !record.event_name.is_empty());
    let told: BTreeSet<_> = told.map(|(_, r)| (&r.trace_id, &r.span_id)).collect();
    assert!(failed.len() > 500, "half of the requests fail");
    assert_eq!(failed, told, "each failed call has a record with its trace and span, no other");
    let lines = seen.records.iter().filter(|(_, record)| record.event_name.is_empty()).count();
    assert!(lines > 100, "components log, too: {lines}");
    assert!(!seen.exemplars.is_empty());
    for (trace, id) in &seen.exemplars {
        assert_eq!(&spans[id].1.trace_id, trace, "an exemplar is an exported span");
    }
    for name in ["requests.rate", "system.cpu.utilization", "latency.p95.seconds"] {
        assert!(seen.gauges.contains(name), "{name}: {:?}", seen.gauges);
    }
    for resource in &seen.resources {
        assert_eq!(text(&resource.attributes, "service.namespace"), "pair");
        assert!(!text(&resource.attributes, "service.instance.id").is_empty());
        assert!(!text(&resource.attributes, "host.name").is_empty());
    }
}

#[test]
fn a_collector_that_is_down_changes_nothing_and_is_counted() {
    let batch = ["--agents", "reference,noop", "--seeds", "2", "--json"];
    let expected = json(&run(&batch));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let absent = format!("http://127.0.0.1:{port}");
    let silent = Collector::http(Manners { silent: true, ..Manners::default() });
    for endpoint in [absent, silent.endpoint()] {
        let mut command = command(&run(&[&batch[..], &["--otlp", &endpoint]].concat()));
        let played = command.env("OTEL_EXPORTER_OTLP_TIMEOUT", "200").output().unwrap();
        assert!(played.status.success());
        let document: serde_json::Value = serde_json::from_slice(&played.stdout).unwrap();
        assert_eq!(document, expected);
        let said = String::from_utf8_lossy(&played.stderr);
        assert!(said.contains("took 0 export requests") && said.contains("were lost"), "{said}");
    }
}

/// Words that nobody outside may read; those that are one common word would be in any log.
fn secrets(library: &serde_json::Value) -> Vec<String> {
    let mut words = vec![scenario::resolved::CANARY.to_string()];
    let names = library.as_array().expect("a list");
    let names = names.iter().map(|one| one["name"].as_str().expect("a name").to_string());
    for name in names {
        let stem = name.split('/').next_back().unwrap_or_default().to_string();
        words.extend([name, stem].into_iter().filter(|n| n.contains(['/', '-'])));
    }
    words.extend(fault::all().iter().map(|f| f.name.to_string()).filter(|n| n.contains('_')));
    let levers = fleet::kinds().iter().flat_map(|kind| kind.levers());
    words.extend(levers.map(|lever| lever.name.to_string()));
    words
}

#[test]
fn the_truth_is_in_none_of_it() {
    let collector = http();
    let endpoint = collector.endpoint();
    let args = ["run", "--agents", "reference", "--seeds", "1", "--otlp", &endpoint];
    out(&[&args[..], &["--reward", "final"]].concat());
    let secrets = secrets(&json(&["scenario", "list", "--json"]));
    let taken = collector.taken();
    assert!(taken.len() > 1000 && secrets.len() > 50, "{} {}", taken.len(), secrets.len());
    for one in &taken {
        let shown = String::from_utf8_lossy(&one.bytes).to_lowercase();
        for word in &secrets {
            assert!(!shown.contains(&word.to_lowercase()), "{word:?} is in {}", one.signal);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_played() {
    for (args, variables, says) in [
        (["--otlp", "https://h:4318"], None, "no TLS"),
        (["--otlp-sample", "101%"], None, "0% to 100%"),
        (
            ["--threads", "1"],
            Some([
                ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318"),
                ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
            ]),
            "grpc or http/protobuf",
        ),
    ] {
        let mut command = command(&run(&args));
        let refused = command.envs(variables.into_iter().flatten()).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(says), "{said}");
    }
    let off = run(&["--agents", "noop", "--seeds", "1", "--otlp", "off"]);
    let mut command = command(&off);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "nonsense://");
    let played = command.output().unwrap();
    assert!(played.status.success());
    assert!(!String::from_utf8_lossy(&played.stderr).contains("telemetry:"));
    assert!(mayday(&["run", "--help"]).status.success());
}
