//! Export requests of the three signals.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;

/// A signal of OpenTelemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// Spans.
    Traces,
    /// Log records.
    Logs,
    /// Points of metrics.
    Metrics,
}

impl Signal {
    /// All of them.
    pub const ALL: [Signal; 3] = [Signal::Traces, Signal::Logs, Signal::Metrics];

    /// Its name, as in paths and, in capitals, in variables.
    pub fn name(self) -> &'static str {
        match self {
            Signal::Traces => "traces",
            Signal::Logs => "logs",
            Signal::Metrics => "metrics",
        }
    }
}

/// One export request.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// Spans.
    Traces(ExportTraceServiceRequest),
    /// Log records.
    Logs(ExportLogsServiceRequest),
    /// Points of metrics.
    Metrics(ExportMetricsServiceRequest),
}

impl Payload {
    /// Its signal.
    pub fn signal(&self) -> Signal {
        match self {
            Payload::Traces(_) => Signal::Traces,
            Payload::Logs(_) => Signal::Logs,
            Payload::Metrics(_) => Signal::Metrics,
        }
    }

    /// The request as it goes over the wire, before compression.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Payload::Traces(request) => request.encode_to_vec(),
            Payload::Logs(request) => request.encode_to_vec(),
            Payload::Metrics(request) => request.encode_to_vec(),
        }
    }
}
