//! One simulated checkout, exported and queried back from somebody else's program: otelite, where
//! `MAYDAY_OTELITE` or `PATH` names it; and through rotel, where `MAYDAY_ROTEL` or `PATH` does.

use crate::kit::{command, out, signal, skip, until, wait};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A third of the shop's requests fail in it, until somebody acts.
const SCENARIO: &str = "change/bad-deploy";
/// 2026-01-01T00:00:00Z, the page of every episode.
const PAGE: u64 = 1_767_225_600_000_000_000;
/// The first span of every simulated request.
const ROOT: &str = "mayday.gateway.v1.Gateway/Route";
const SECOND: u64 = 1_000_000_000;
/// A port that was free may be taken a moment later.
const ATTEMPTS: u32 = 5;

#[expect(clippy::disallowed_methods, reason = "the switch to a program, and the search path")]
fn program(variable: &str, name: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable) {
        return Some(path.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn otelite() -> Option<PathBuf> {
    program("MAYDAY_OTELITE", "otelite")
}

/// Ports that are free now; held together, so that they differ.
fn free<const N: usize>() -> [u16; N] {
    let free = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    free.map(|one| one.local_addr().expect("an address").port())
}

/// Whether a program came to listen on all of these, or ended before.
fn listens(child: &mut Child, ports: &[u16]) -> bool {
    until("a program listens", || {
        let ended = child.try_wait().expect("a child").is_some();
        let up = ports.iter().all(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok());
        (ended || up).then_some(up && !ended)
    })
}

/// Passes on what it gets over gRPC, by HTTP; killed when it is dropped.
struct Rotel {
    child: Child,
    grpc: u16,
}

impl Drop for Rotel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Rotel {
    fn start(program: &PathBuf, to: u16) -> Rotel {
        let mut attempts = (0..ATTEMPTS).filter_map(|_| Rotel::attempt(program, to));
        attempts.next().expect("rotel listens")
    }

    fn stop(mut self) {
        signal(&self.child, rustix::process::Signal::TERM);
        wait(&mut self.child);
    }

    fn attempt(program: &PathBuf, to: u16) -> Option<Rotel> {
        let [grpc, http] = free();
        let mut command = Command::new(program);
        command.args(["start", "--otlp-grpc-endpoint", &format!("127.0.0.1:{grpc}")]);
        command.args(["--otlp-http-endpoint", &format!("127.0.0.1:{http}")]);
        command.args(["--exporter", "otlp", "--otlp-exporter-protocol", "http"]);
        command.args(["--otlp-exporter-endpoint", &format!("http://127.0.0.1:{to}")]);
        // Spans of batches that it splits by size came back incomplete.
        command.args(["--batch-timeout", "200ms", "--batch-max-size", "100000"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("rotel starts");
        let mut one = Rotel { child, grpc };
        listens(&mut one.child, &[grpc, http]).then_some(one)
    }
}

/// A running backend, killed when it is dropped.
struct Otelite {
    child: Child,
    _data: TempDir,
    grpc: u16,
    http: u16,
    api: u16,
}

impl Drop for Otelite {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Otelite {
    fn start(program: &PathBuf) -> Otelite {
        let mut attempts = (0..ATTEMPTS).filter_map(|_| Otelite::attempt(program));
        attempts.next().expect("otelite listens")
    }

    fn attempt(program: &PathBuf) -> Option<Otelite> {
        let [grpc, http, api] = free();
        let data = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(program);
        command.args(["serve", "--addr", &format!("127.0.0.1:{api}")]);
        command.env("OTELITE_DATA_DIR", data.path()).env("HOME", data.path());
        command.env("OTELITE_OTLP_GRPC_PORT", grpc.to_string());
        command.env("OTELITE_OTLP_HTTP_PORT", http.to_string());
        // The simulated day is long past.
        command.env("OTELITE_AUTO_PURGE_ENABLED", "false");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("otelite starts");
        let mut one = Otelite { child, _data: data, grpc, http, api };
        listens(&mut one.child, &[api, grpc, http]).then_some(one)
    }

    fn get(&self, path: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.api)).expect("it listens");
        let ask = format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n");
        stream.write_all(ask.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
        assert!(head.contains(" 200 "), "{path}: {head}");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error}: {body}"))
    }

    /// Summaries of all traces.
    fn traces(&self) -> Vec<Value> {
        let page = self.get("/api/traces?limit=1000");
        page["traces"].as_array().expect("a list").clone()
    }

    /// Ids of the traces of simulated requests.
    fn simulated(&self) -> BTreeSet<String> {
        let traces = self.traces();
        let ours = traces.iter().filter(|one| one["root_span_name"] == ROOT);
        ours.map(|one| one["trace_id"].as_str().expect("an id").to_string()).collect()
    }

    fn spans(&self, trace: &str) -> Vec<Span> {
        let found = self.get(&format!("/api/traces/{trace}"));
        found["spans"].as_array().expect("a list").iter().map(Span::of).collect()
    }
}

/// A span as the backend gives it back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    trace: String,
    id: String,
    parent: Option<String>,
    service: String,
    name: String,
    kind: String,
    start: u64,
    end: u64,
    status: String,
    code: String,
    class: Option<String>,
}

impl Span {
    fn of(value: &Value) -> Span {
        let text = |value: &Value| value.as_str().map(str::to_string);
        let word = |value: &Value| text(value).unwrap_or_else(|| panic!("no text: {value}"));
        let attributes = &value["attributes"];
        Span {
            trace: word(&value["trace_id"]),
            id: word(&value["span_id"]),
            parent: text(&value["parent_span_id"]),
            service: word(&value["resource"]["attributes"]["service.name"]),
            name: word(&value["name"]),
            kind: word(&value["kind"]),
            start: value["start_time"].as_u64().expect("a time"),
            end: value["end_time"].as_u64().expect("a time"),
            status: word(&value["status"]["code"]),
            code: word(&attributes["rpc.response.status_code"]),
            class: text(&attributes["mayday.request.class"]),
        }
    }
}

/// Plays the scenario with nobody acting, to this port.
fn play(port: u16, protocol: &str, sample: &str) {
    let endpoint = format!("http://127.0.0.1:{port}");
    let args = ["run", SCENARIO, "--agents", "noop", "--seeds", "1", "--otlp-sample", sample];
    let mut command = command(&args);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    command.env("OTEL_EXPORTER_OTLP_PROTOCOL", protocol);
    // The other plane of telemetry is not of this test.
    command.env("OTEL_SERVICE_NAME", "mayday");
    let played = command.output().expect("the binary starts");
    let said = String::from_utf8_lossy(&played.stderr);
    assert!(played.status.success() && said.contains("took"), "{said}");
    assert!(!said.contains("lost"), "{said}");
}

#[test]
fn one_simulated_checkout_is_queried_back_from_a_backend() {
    let Some(program) = otelite() else {
        return skip("a checkout queried back", "no otelite in MAYDAY_OTELITE or PATH");
    };
    let backends = [Otelite::start(&program), Otelite::start(&program)];
    play(backends[0].grpc, "grpc", "0.06%");
    play(backends[1].http, "http/protobuf", "0.06%");
    let traces = backends[0].traces();
    let simulated = |one: &&Value| one["root_span_name"] == ROOT;
    let traces: Vec<_> = traces.iter().filter(simulated).collect();
    let id = |one: &Value| one["trace_id"].as_str().expect("an id").to_string();
    let five = |one: &&&Value| one["service_names"].as_array().is_some_and(|all| all.len() == 5);
    let whole = traces.iter().filter(|one| one["has_errors"] == false).find(five);
    whole_checkout(&backends[0].spans(&id(whole.expect("a checkout"))));
    let broken = traces.iter().find(|one| one["has_errors"] == true).expect("a failure");
    failed_request(&backends[0], &id(broken));
    assert!((100..1000).contains(&traces.len()), "all traces in one page: {}", traces.len());
    let mut spans: [BTreeSet<Span>; 2] = Default::default();
    for (backend, spans) in backends.iter().zip(&mut spans) {
        for trace in &traces {
            spans.extend(backend.spans(&id(trace)));
        }
    }
    assert_eq!(spans[0], spans[1], "both protocols bring the same spans");
    for backend in &backends {
        counts_agree(backend, &spans[0]);
    }
}

#[test]
fn a_relay_passes_the_same_spans_on() {
    let (Some(program), Some(relay)) = (otelite(), program("MAYDAY_ROTEL", "rotel-agent")) else {
        return skip("spans through a relay", "no otelite and rotel in MAYDAY_… or PATH");
    };
    let backends = [Otelite::start(&program), Otelite::start(&program)];
    let relay = Rotel::start(&relay, backends[1].http);
    play(backends[0].http, "http/protobuf", "0.01%");
    play(relay.grpc, "grpc", "0.01%");
    let expected = backends[0].simulated();
    assert!(expected.len() > 50);
    // At its end it passes on what it still has.
    relay.stop();
    assert_eq!(backends[1].simulated(), expected);
    let [direct, relayed] = backends.map(|backend| {
        let spans = expected.iter().flat_map(|trace| backend.spans(trace));
        spans.collect::<BTreeSet<_>>()
    });
    assert_eq!(direct, relayed);
}

/// Gateway, then auth, then the shop, which asks its database and charges.
fn whole_checkout(spans: &[Span]) {
    let of = |service: &str, kind: &str, name: &str| {
        let fits = |span: &&Span| span.service == service && span.kind == kind;
        let found = spans.iter().filter(fits).find(|span| span.name.ends_with(name));
        found.unwrap_or_else(|| panic!("no {kind} span {name} of {service} in {spans:#?}"))
    };
    let root = of("gateway", "Server", "/Route");
    assert_eq!((root.parent.as_deref(), root.class.as_deref()), (None, Some("checkout")));
    let shop = of("shop", "Server", "/Handle");
    for (caller, callee, name) in [
        (root, "auth", "/Verify"),
        (root, "shop", "/Handle"),
        (shop, "orders-db", "/Query"),
        (shop, "payment", "/Charge"),
    ] {
        let client = of(&caller.service, "Client", name);
        let clients = spans.iter().filter(|span| span.parent.as_ref() == Some(&client.id));
        let below: Vec<_> = clients.collect();
        assert_eq!(client.parent.as_ref(), Some(&caller.id), "{callee} is called by its caller");
        assert_eq!(below.len(), 1, "{callee} answers the call");
        assert_eq!((&*below[0].service, &*below[0].kind), (callee, "Server"));
        assert!(client.start >= caller.start && client.end <= caller.end);
    }
    for span in spans {
        assert_eq!(span.trace, root.trace);
        assert_eq!((&*span.status, &*span.code), ("Unset", "OK"));
        let (first, last) = (PAGE - 300 * SECOND, PAGE + 1300 * SECOND);
        assert!(first <= span.start && span.start <= span.end && span.end < last, "{span:?}");
    }
}

/// What failed says so in its spans and in the log.
fn failed_request(backend: &Otelite, trace: &str) {
    let spans = backend.spans(trace);
    let failed = spans.iter().filter(|span| span.status == "Error");
    let failed: BTreeSet<_> = failed.map(|span| span.id.clone()).collect();
    let root = spans.iter().find(|span| span.parent.is_none()).expect("a root");
    assert!(failed.contains(&root.id) && root.code == "INTERNAL", "{root:?}");
    let logs = backend.get(&format!("/api/traces/{trace}/logs"));
    let logs = logs["logs"].as_array().expect("a list");
    let told: BTreeSet<_> = logs.iter().filter_map(|log| log["span_id"].as_str()).collect();
    assert_eq!(told, failed.iter().map(String::as_str).collect(), "a record for each failed span");
    for log in logs {
        assert_eq!(log["trace_id"], trace);
        assert_eq!(log["attributes"]["exception.type"], "INTERNAL");
    }
    let own = |log: &&Value| log["span_id"] == root.id.as_str();
    assert_eq!(logs.iter().find(own).expect("the root's")["timestamp"], root.end);
}

/// The last histograms count as many calls as there are spans.
fn counts_agree(backend: &Otelite, spans: &BTreeSet<Span>) {
    for (kind, metric) in
        [("Server", "rpc.server.call.duration"), ("Client", "rpc.client.call.duration")]
    {
        let mut expected: BTreeMap<_, u64> = BTreeMap::new();
        for span in spans.iter().filter(|span| span.kind == kind) {
            let key = (span.service.clone(), span.name.clone(), span.code.clone());
            *expected.entry(key).or_default() += 1;
        }
        let text = |value: &Value| value.as_str().expect("a text").to_string();
        let points = backend.get(&format!("/api/metrics?name={metric}&limit=1000"));
        let counts: BTreeMap<_, u64> = points
            .as_array()
            .expect("a list")
            .iter()
            .map(|point| {
                let attributes = &point["attributes"];
                let service = text(&point["resource"]["attributes"]["service.name"]);
                let method = text(&attributes["rpc.method"]);
                let code = text(&attributes["rpc.response.status_code"]);
                ((service, method, code), point["value"]["count"].as_u64().expect("a count"))
            })
            .collect();
        assert_eq!(counts, expected, "{metric}");
    }
}

#[test]
fn the_scenario_has_the_path_that_is_looked_for() {
    let shown = out(&["scenario", "show", SCENARIO]);
    for name in ["gateway", "auth", "shop", "payment", "orders-db"] {
        assert!(shown.contains(name), "{name}");
    }
}
