//! OTLP over gRPC.

use crate::config::Target;
use crate::payload::{Payload, Signal};
use crate::transport::{Refused, Taken};
use http::{HeaderName, HeaderValue};
use opentelemetry_proto::tonic::collector::{logs, metrics, trace};
use std::time::Duration;
use tonic::codec::CompressionEncoding;
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

use logs::v1::logs_service_client::LogsServiceClient;
use metrics::v1::metrics_service_client::MetricsServiceClient;
use trace::v1::trace_service_client::TraceServiceClient;

const PROBE: Duration = Duration::from_secs(10);

/// Clients of one signal.
#[derive(Debug)]
enum Client {
    Traces(TraceServiceClient<Channel>),
    Logs(LogsServiceClient<Channel>),
    Metrics(MetricsServiceClient<Channel>),
}

#[derive(Debug)]
pub(crate) struct Grpc {
    client: Client,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Grpc {
    pub(crate) fn new(signal: Signal, target: &Target) -> Grpc {
        // The path is the service's.
        let channel = Endpoint::from(target.uri.clone())
            .connect_timeout(target.timeout)
            // Without probes a connection that a network cut is never given up.
            .http2_keep_alive_interval(PROBE)
            .keep_alive_timeout(PROBE)
            .connect_lazy();
        let gzip = target.gzip.then_some(CompressionEncoding::Gzip);
        macro_rules! client {
            ($client:ident) => {
                gzip.into_iter().fold($client::new(channel), $client::send_compressed)
            };
        }
        let client = match signal {
            Signal::Traces => Client::Traces(client!(TraceServiceClient)),
            Signal::Logs => Client::Logs(client!(LogsServiceClient)),
            Signal::Metrics => Client::Metrics(client!(MetricsServiceClient)),
        };
        Grpc { client, headers: target.headers.clone() }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        let mut headers = std::mem::take(request.metadata_mut()).into_headers();
        headers.extend(self.headers.iter().cloned());
        *request.metadata_mut() = MetadataMap::from_headers(headers);
        request
    }

    pub(crate) async fn send(&mut self, payload: &Payload) -> Result<Taken, Refused> {
        let part = match payload {
            Payload::Traces(message) => {
                let request = self.request(message.clone());
                let Client::Traces(client) = &mut self.client else { return Err(astray()) };
                let answer = client.export(request).await.map_err(|s| refused(&s))?;
                let part = answer.into_inner().partial_success;
                part.map(|part| (part.rejected_spans, part.error_message))
            }
            Payload::Logs(message) => {
                let request = self.request(message.clone());
                let Client::Logs(client) = &mut self.client else { return Err(astray()) };
                let answer = client.export(request).await.map_err(|s| refused(&s))?;
                let part = answer.into_inner().partial_success;
                part.map(|part| (part.rejected_log_records, part.error_message))
            }
            Payload::Metrics(message) => {
                let request = self.request(message.clone());
                let Client::Metrics(client) = &mut self.client else { return Err(astray()) };
                let answer = client.export(request).await.map_err(|s| refused(&s))?;
                let part = answer.into_inner().partial_success;
                part.map(|part| (part.rejected_data_points, part.error_message))
            }
        };
        Ok(part.map(Taken::new).unwrap_or_default())
    }
}

fn astray() -> Refused {
    Refused { cause: "a request of another signal".into(), again: false }
}

/// The codes that the specification of OTLP wants to be tried again.
fn refused(status: &Status) -> Refused {
    let again = matches!(
        status.code(),
        Code::Cancelled
            | Code::DeadlineExceeded
            | Code::Aborted
            | Code::OutOfRange
            | Code::Unavailable
            | Code::DataLoss
    );
    Refused { cause: format!("{}: {}", status.code(), status.message()), again }
}
