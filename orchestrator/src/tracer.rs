//! Traces of this program's own processes, on wall time: the SDK of OpenTelemetry makes spans of
//! what `tracing` sees, and the sender of the crate `otlp` brings them to the collector. The SDK's
//! own exporter is not used: it blocks the thread of its batches on a runtime that may not be
//! there, and a second way to a collector would read the same variables otherwise.

use crate::export::environment;
use opentelemetry::propagation::{TextMapCompositePropagator, TextMapPropagator};
use opentelemetry::trace::TracerProvider;
use opentelemetry::{KeyValue, global};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use otlp::{Config, Environment, Overflow, Payload, Sender, Signal};
use std::sync::Arc;
use std::time::Duration;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

/// Spans that wait get this long to be sent at the end.
const PATIENCE: Duration = Duration::from_secs(5);
/// Tells processes from what they simulate.
const NAMESPACE: &str = "mayday";

/// Makes spans, and sends them.
#[derive(Debug)]
pub struct Tracer {
    provider: SdkTracerProvider,
    sender: Arc<Sender>,
}

impl Tracer {
    /// What the environment asks for; `None`: nothing.
    ///
    /// # Errors
    /// Names the variable that does not fit.
    pub fn of_environment(command: &str) -> Result<Option<Tracer>, String> {
        let environment = environment();
        let config = Config::new(None, &environment).map_err(|error| error.to_string())?;
        let Some(mut config) = config else { return Ok(None) };
        config.targets.retain(|signal, _| *signal == Signal::Traces);
        if config.targets.is_empty() {
            return Ok(None);
        }
        let propagator = propagator(&environment)?;
        let sender = Sender::start(&config).map_err(|error| error.to_string())?;
        let sender = Arc::new(sender);
        let exporter =
            Exporter { sender: sender.clone(), resource: ResourceAttributesWithSchema::default() };
        let provider = SdkTracerProvider::builder()
            .with_resource(resource(&environment, command))
            .with_batch_exporter(exporter)
            .build();
        global::set_text_map_propagator(propagator);
        Ok(Some(Tracer { provider, sender }))
    }

    /// The layer that makes spans.
    pub fn layer<S>(&self) -> OpenTelemetryLayer<S, opentelemetry_sdk::trace::SdkTracer>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        tracing_opentelemetry::layer().with_tracer(self.provider.tracer(NAMESPACE))
    }

    /// Sends what waits, for so long at most; what is lost then was of this process only.
    pub fn end(self) {
        if let Err(error) = self.provider.shutdown_with_timeout(PATIENCE) {
            tracing::debug!(%error, "spans of this process are lost");
        }
        if let Ok(runtime) = crate::runtime::current() {
            runtime.block_on(self.sender.finish(Overflow::Drop, PATIENCE));
        }
    }
}

fn resource(environment: &Environment, command: &str) -> Resource {
    let mut own = vec![KeyValue::new("service.namespace", NAMESPACE)];
    if environment.get("OTEL_SERVICE_NAME").is_none() {
        own.push(KeyValue::new("service.name", format!("mayday-{command}")));
    }
    let instance = format!("{:016x}", chassis::incarnation::draw());
    own.push(KeyValue::new("service.instance.id", instance));
    own.push(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    Resource::builder().with_attributes(own).build()
}

/// What `OTEL_PROPAGATORS` lists, which the SDK does not read.
fn propagator(environment: &Environment) -> Result<TextMapCompositePropagator, String> {
    let name = "OTEL_PROPAGATORS";
    let list = environment.get(name).unwrap_or("tracecontext,baggage");
    let mut all: Vec<Box<dyn TextMapPropagator + Send + Sync>> = Vec::new();
    for word in list.split(',').map(|word| word.trim().to_ascii_lowercase()) {
        match word.as_str() {
            "tracecontext" => all.push(Box::new(TraceContextPropagator::new())),
            "baggage" => all.push(Box::new(BaggagePropagator::new())),
            "none" | "" => {}
            _ => {
                return Err(format!("{name}={list:?}: expected tracecontext, baggage or none"));
            }
        }
    }
    Ok(TextMapCompositePropagator::new(all))
}

/// Hands batches of the SDK to the sender.
#[derive(Debug)]
struct Exporter {
    sender: Arc<Sender>,
    resource: ResourceAttributesWithSchema,
}

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let request = ExportTraceServiceRequest { resource_spans };
        self.sender.offer(Payload::Traces(request), Overflow::Drop).await;
        Ok(())
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn propagators_are_those_of_the_variable() {
        let of = |list: &str| {
            let pair = ("OTEL_PROPAGATORS".to_string(), list.to_string());
            let propagator = propagator(&Environment::new([pair]))?;
            let mut fields: Vec<_> = propagator.fields().map(str::to_string).collect();
            fields.sort();
            Ok::<_, String>(fields.join(" "))
        };
        assert_eq!(of("").unwrap(), "baggage traceparent tracestate");
        assert_eq!(of("tracecontext").unwrap(), "traceparent tracestate");
        assert_eq!(of("none").unwrap(), "");
        assert!(of("b3").unwrap_err().contains("tracecontext, baggage or none"));
    }
}
