//! A span around every call of the control plane that a process answers.

use std::task::{Context, Poll};

use http::Request;
use tower::{Layer, Service};
use tracing::instrument::{Instrument, Instrumented};
use tracing::{Span, debug_span, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::carry::context;

/// The services whose callers are processes of this program, or who asks it to do something. The
/// request plane is simulated: what is in its metadata is the simulation's.
const OURS: [&str; 3] = ["/mayday.control.", "/mayday.grader.", "/mayday.orchestrator."];
/// Comes hundreds of times in a step.
const OFTEN: &str = "/Advance";

/// Makes [`Follow`]s.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrailLayer;

impl<S> Layer<S> for TrailLayer {
    type Service = Follow<S>;

    fn layer(&self, inner: S) -> Follow<S> {
        Follow { inner }
    }
}

/// Answers calls in a span whose parent is the caller's.
#[derive(Clone, Debug)]
pub struct Follow<S> {
    inner: S,
}

impl<S, B> Service<Request<B>> for Follow<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Instrumented<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Instrumented<S::Future> {
        let span = span(&request);
        self.inner.call(request).instrument(span)
    }
}

fn span<B>(request: &Request<B>) -> Span {
    let path = request.uri().path();
    if !OURS.iter().any(|ours| path.starts_with(ours)) {
        return Span::none();
    }
    let method = path.trim_start_matches('/');
    let span = match path.ends_with(OFTEN) {
        true => debug_span!("rpc", otel.name = method, otel.kind = "server", rpc.method = method),
        false => info_span!("rpc", otel.name = method, otel.kind = "server", rpc.method = method),
    };
    if !span.is_disabled() {
        // Without a tracer there is nothing to be the child of.
        let _ = span.set_parent(context(request.headers()));
    }
    span
}
