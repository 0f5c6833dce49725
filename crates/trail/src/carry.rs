//! The current span as metadata, by the propagators that the process has chosen; none by default.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry::Context;
use opentelemetry::global::get_text_map_propagator;
use opentelemetry::propagation::{Extractor, Injector};
use tonic::metadata::MetadataMap;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Lets `request` carry the current span, if there is one that anybody records.
pub fn carry<T>(request: &mut tonic::Request<T>) {
    let span = Span::current();
    if span.is_disabled() {
        return;
    }
    let mut headers = std::mem::take(request.metadata_mut()).into_headers();
    let context = span.context();
    get_text_map_propagator(|propagator| {
        propagator.inject_context(&context, &mut Out(&mut headers));
    });
    *request.metadata_mut() = MetadataMap::from_headers(headers);
}

/// What a caller sent along.
pub(crate) fn context(headers: &HeaderMap) -> Context {
    get_text_map_propagator(|propagator| propagator.extract(&In(headers)))
}

struct Out<'a>(&'a mut HeaderMap);

impl Injector for Out<'_> {
    fn set(&mut self, key: &str, value: String) {
        let name = HeaderName::from_bytes(key.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
            self.0.insert(name, value);
        }
    }
}

struct In<'a>(&'a HeaderMap);

impl Extractor for In<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}
