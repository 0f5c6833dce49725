//! What the processes say of themselves: a step is one trace over orchestrator, components and
//! grader, on wall time, apart from everything simulated.

use crate::kit::{LIBRARY, Server, command, run};
use collector::{Collector, Manners};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use proto::orchestrator::v1::episodes_client::EpisodesClient;
use proto::orchestrator::v1::{CreateRequest, ListScenariosRequest, StepRequest};
use std::collections::{BTreeMap, BTreeSet};

fn text(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    match found.and_then(|attribute| attribute.value.clone()) {
        Some(AnyValue { value: Some(Value::StringValue(text)) }) => text,
        _ => String::new(),
    }
}

/// Spans by namespace, with the name of their service.
fn spans(collector: &Collector) -> BTreeMap<String, Vec<(String, Span)>> {
    let mut all: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for bytes in collector.bytes("traces") {
        for of in ExportTraceServiceRequest::decode(&*bytes).unwrap().resource_spans {
            let attributes = of.resource.unwrap().attributes;
            let service = text(&attributes, "service.name");
            let spans = of.scope_spans.into_iter().flat_map(|scope| scope.spans);
            let kept = all.entry(text(&attributes, "service.namespace")).or_default();
            kept.extend(spans.map(|span| (service.clone(), span)));
        }
    }
    all
}

// The connections live on while the test waits for a process.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_step_is_one_trace_over_orchestrator_components_and_grader() {
    let collector = Collector::http(Manners::default());
    let endpoint = collector.endpoint();
    let asks = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())];
    let grader = Server::start_in(&["grader", "--listen", "127.0.0.1:0"], Some("s3cret"), &asks);
    let address = grader.address("grader");
    let args = ["orchestrator", "--listen", "127.0.0.1:0", "--library", LIBRARY, "--fleet"];
    let more = ["remote", "--grader", &address];
    let server = Server::start_in(&[&args[..], &more].concat(), Some("s3cret"), &asks);
    let channel = format!("http://{}", server.address("orchestrator"));
    let channel = tonic::transport::Channel::from_shared(channel).unwrap().connect().await.unwrap();
    let shown = |mut request: tonic::Request<()>| {
        request.metadata_mut().insert(chassis::token::METADATA, "s3cret".parse().unwrap());
        Ok(request)
    };
    let mut calls = EpisodesClient::with_interceptor(channel, shown);
    let tasks = calls.list_scenarios(ListScenariosRequest {}).await.unwrap().into_inner().tasks;
    let request = CreateRequest { task: tasks[0].task.clone(), seed: Some(5) };
    let episode = calls.create(request).await.unwrap().into_inner().episode;
    let action_json = br#"{"action":"rollback","component":"web"}"#.to_vec();
    let request = StepRequest { episode: episode.clone(), action_json, number: None };
    calls.step(request).await.unwrap();
    assert_eq!(server.stop(), Some(0));
    assert_eq!(grader.stop(), Some(0));

    let spans = spans(&collector);
    let own = &spans["mayday"];
    let (_, step) = own.iter().find(|(_, span)| span.name == "agent.step").expect("the step");
    assert_eq!(text(&step.attributes, "episode"), episode);
    let trace: Vec<_> = own.iter().filter(|(_, s)| s.trace_id == step.trace_id).collect();
    let below: BTreeSet<_> = trace
        .iter()
        .filter(|(_, span)| span.parent_span_id == step.span_id)
        .map(|(service, span)| (service.as_str(), span.name.as_str()))
        .collect();
    for expected in [
        ("mayday-component", "mayday.control.v1.Component/Operate"),
        ("mayday-grader", "mayday.grader.v1.Grader/Baselines"),
    ] {
        assert!(below.contains(&expected), "{expected:?} is not below the step: {below:?}");
    }
    let asked = trace.iter().find(|(_, span)| span.span_id == step.parent_span_id);
    let asked = asked.map(|(of, span)| (of.as_str(), span.name.as_str()));
    assert_eq!(asked, Some(("mayday-orchestrator", "mayday.orchestrator.v1.Episodes/Step")));
    // The planes do not mix: no simulated span is in the trace of a process, and none is missing.
    let simulated = &spans["pair"];
    assert!(simulated.iter().all(|(_, span)| span.trace_id != step.trace_id));
    assert!(simulated.len() > 300, "{}", simulated.len());
    assert!(own.iter().all(|(service, _)| service.starts_with("mayday-")));
}

#[test]
fn processes_are_silent_unless_they_are_asked() {
    let collector = Collector::http(Manners::default());
    let endpoint = collector.endpoint();
    let play = |variables: &[(&str, &str)], more: &[&str]| {
        let before = spans(&collector).get("mayday").map_or(0, Vec::len);
        let batch = ["--agents", "reference", "--seeds", "1"];
        let mut command = command(&run(&[&batch[..], more].concat()));
        let played = command.envs(variables.iter().copied()).output().unwrap();
        let said = String::from_utf8_lossy(&played.stderr).into_owned();
        assert!(played.status.success(), "{said}");
        (spans(&collector).get("mayday").map_or(0, Vec::len) - before, said)
    };
    let asks = ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str());
    assert_eq!(play(&[], &["--otlp", &endpoint]).0, 0, "--otlp is for what is simulated");
    assert_eq!(play(&[asks, ("OTEL_SDK_DISABLED", "true")], &[]).0, 0);
    assert_eq!(play(&[asks, ("OTEL_TRACES_EXPORTER", "none")], &["--otlp", "off"]).0, 0);
    let (steps, _) = play(&[asks], &["--otlp", "off"]);
    assert_eq!(steps, 3, "one span per step");
    let (none, said) = play(&[asks, ("OTEL_PROPAGATORS", "b3")], &["--otlp", "off"]);
    assert!(none == 0 && said.contains("OTEL_PROPAGATORS"), "{said}");
}
