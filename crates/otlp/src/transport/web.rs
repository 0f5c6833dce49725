//! OTLP over HTTP, binary messages.

use crate::config::Target;
use crate::payload::Payload;
use crate::transport::{Refused, Taken};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, USER_AGENT};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use std::io::Write;

const PROTOBUF: &str = "application/x-protobuf";
const AGENT: &str = concat!("mayday/", env!("CARGO_PKG_VERSION"));
/// Limit of an answer, as the specification has it.
const ANSWER_BYTES_MAX: usize = 4 << 20;

#[derive(Debug)]
pub(crate) struct Web {
    client: Client<HttpConnector, Full<Bytes>>,
    target: Target,
}

impl Web {
    pub(crate) fn new(target: &Target) -> Web {
        let client = Client::builder(TokioExecutor::new()).build_http();
        Web { client, target: target.clone() }
    }

    pub(crate) async fn send(&mut self, payload: &Payload) -> Result<Taken, Refused> {
        let broken = |cause: String| Refused { cause, again: false };
        let mut request = Request::post(self.target.uri.clone())
            .header(CONTENT_TYPE, PROTOBUF)
            .header(USER_AGENT, AGENT);
        let mut body = payload.encode();
        if self.target.gzip {
            request = request.header(CONTENT_ENCODING, "gzip");
            body = zipped(&body).map_err(|error| broken(error.to_string()))?;
        }
        for (name, value) in &self.target.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(body)));
        let request = request.map_err(|error| broken(error.to_string()))?;
        let failed = |error: &dyn std::error::Error| Refused { cause: chain(error), again: true };
        let answer = self.client.request(request).await.map_err(|error| failed(&error))?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| failed(&*error))?.to_bytes();
        if !status.is_success() {
            return Err(Refused { cause: format!("HTTP {status}"), again: passing(status) });
        }
        Ok(taken(payload, &body))
    }
}

/// The answers that the specification of OTLP wants to be tried again.
fn passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}

fn zipped(body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body)?;
    encoder.finish()
}

/// What the answer says. One that cannot be read says nothing: the request was taken.
fn taken(payload: &Payload, answer: &[u8]) -> Taken {
    macro_rules! part {
        ($answer:ident, $rejected:ident) => {{
            let part = $answer::decode(answer).ok().and_then(|answer| answer.partial_success);
            part.map(|part| (part.$rejected, part.error_message))
        }};
    }
    let part = match payload {
        Payload::Traces(_) => part!(ExportTraceServiceResponse, rejected_spans),
        Payload::Logs(_) => part!(ExportLogsServiceResponse, rejected_log_records),
        Payload::Metrics(_) => part!(ExportMetricsServiceResponse, rejected_data_points),
    };
    part.map(Taken::new).unwrap_or_default()
}

/// An error with its causes: the first sentence alone says only that the client failed.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
