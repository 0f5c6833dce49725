//! Two sides of a call in one process: the callee's span is a child of the caller's.

use crate::{TrailLayer, carry};
use http::Request;
use opentelemetry::trace::{SpanKind, TracerProvider};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tower::{Layer, Service, service_fn};
use tracing::Instrument;
use tracing_subscriber::layer::SubscriberExt;

#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Kept {
    async fn export(&self, batch: Vec<SpanData>) -> opentelemetry_sdk::error::OTelSdkResult {
        self.0.lock().unwrap().extend(batch);
        Ok(())
    }
}

async fn call(path: &str) {
    let mut request = tonic::Request::new(());
    carry(&mut request);
    let mut sent = Request::builder().uri(path).body(()).unwrap();
    *sent.headers_mut() = request.into_parts().0.into_headers();
    let mut server = TrailLayer.layer(service_fn(async |_| Ok::<_, Infallible>(())));
    server.call(sent).await.unwrap();
}

#[tokio::test]
async fn a_call_of_the_control_plane_is_followed_and_a_simulated_request_is_not() {
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    let kept = Kept::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(kept.clone()).build();
    let tracer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    let subscriber = tracing_subscriber::registry().with(tracer);
    let _guard = tracing::subscriber::set_default(subscriber);
    let step = tracing::info_span!("agent.step");
    call("/mayday.control.v1.Component/Operate").instrument(step.clone()).await;
    call("/mayday.db.v1.Db/Query").instrument(step.clone()).await;
    drop(step);
    let spans = kept.0.lock().unwrap().clone();
    let names: Vec<_> = spans.iter().map(|span| span.name.as_ref()).collect();
    assert_eq!(names, ["mayday.control.v1.Component/Operate", "agent.step"]);
    let (operate, step) = (&spans[0], &spans[1]);
    assert_eq!(operate.span_context.trace_id(), step.span_context.trace_id());
    assert_eq!(operate.parent_span_id, step.span_context.span_id());
    assert!(operate.parent_span_is_remote && operate.span_kind == SpanKind::Server);
}

#[test]
fn without_a_span_nothing_is_carried() {
    let mut request = tonic::Request::new(());
    carry(&mut request);
    assert!(request.metadata().is_empty());
}
