//! Spans and W3C trace context of a walk. Every id is a function of the request and the path, so
//! a trace is the same in every body and whenever it is asked for.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use model::{Digester, Hop, HopReply, PROCESS, Span};
use tower::{Layer, Service};

use crate::attempt::Attempt;
use crate::error::MeshError;

/// Metadata of the W3C trace context.
pub const TRACEPARENT: &str = "traceparent";

/// The id of the span on one side of a hop; never 0.
pub fn span_id(request: u64, path: u64, client: bool) -> u64 {
    let mut digester = Digester::default();
    digester.word(request);
    digester.word(path);
    digester.word(u64::from(client));
    digester.finish().0.max(1)
}

/// The id of the trace of a request, 128 bits, never 0.
pub fn trace_id(request: u64) -> u128 {
    let mut digester = Digester::default();
    digester.word(request);
    let id = digester.finish();
    (u128::from(id.0) << 64 | u128::from(id.1)).max(1)
}

/// `traceparent` of the hop: its parent is the caller's span.
pub fn traceparent(hop: &Hop) -> String {
    let parent = span_id(hop.request, hop.path, true);
    let flags = u8::from(hop.sampled);
    format!("00-{:032x}-{parent:016x}-{flags:02x}", trace_id(hop.request))
}

/// Trace id, parent span id and the sampled flag of a `traceparent`, if it is one.
pub fn parse_traceparent(text: &str) -> Option<(u128, u64, bool)> {
    let mut parts = text.split('-');
    let (version, trace, parent, flags) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if version.len() != 2 || trace.len() != 32 || parent.len() != 16 || flags.len() != 2 {
        return None;
    }
    if version == "ff" || (version == "00" && parts.next().is_some()) {
        return None;
    }
    let trace = u128::from_str_radix(trace, 16).ok().filter(|id| *id != 0)?;
    let parent = u64::from_str_radix(parent, 16).ok().filter(|id| *id != 0)?;
    Some((trace, parent, u8::from_str_radix(flags, 16).ok()? & 1 == 1))
}

/// The reply of a hop that ended: its own span first, then those of its attempts, then what the
/// machine itself added.
pub(crate) fn close(hop: &Hop, mut reply: HopReply, below: Vec<Span>) -> HopReply {
    let own = std::mem::take(&mut reply.spans);
    if !hop.sampled {
        return reply;
    }
    let root = hop.path == 0;
    let span = Span {
        id: span_id(hop.request, hop.path, false),
        parent: if root { 0 } else { span_id(hop.request, hop.path, true) },
        instance: hop.instance,
        operation: hop.operation.clone(),
        client: false,
        start_s: 0.0,
        length_s: reply.latency_s,
        code: reply.code,
        message: reply.message.clone(),
    };
    reply.spans.push(span);
    reply.spans.extend(below);
    reply.spans.extend(own);
    reply
}

/// Makes [`RecordSpans`]s for the attempts of one hop.
#[derive(Clone, Copy, Debug)]
pub struct TraceLayer<'a> {
    /// The hop that makes the attempts.
    pub caller: &'a Hop,
}

impl<'a, S> Layer<S> for TraceLayer<'a> {
    type Service = RecordSpans<'a, S>;

    fn layer(&self, inner: S) -> RecordSpans<'a, S> {
        RecordSpans { inner, caller: self.caller }
    }
}

/// Puts the caller's span before those of the callee, and all of them at their place in time.
#[derive(Clone, Copy, Debug)]
pub struct RecordSpans<'a, S> {
    inner: S,
    caller: &'a Hop,
}

impl<S> Service<Attempt> for RecordSpans<'_, S>
where
    S: Service<Attempt, Response = HopReply, Error = MeshError>,
    S::Future: Unpin,
{
    type Response = HopReply;
    type Error = MeshError;
    type Future = Recorded<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), MeshError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, attempt: Attempt) -> Recorded<S::Future> {
        let place = self.caller.sampled.then(|| Place::of(self.caller, &attempt));
        Recorded { inner: self.inner.call(attempt), place }
    }
}

/// The future of [`RecordSpans`].
#[derive(Debug)]
pub struct Recorded<F> {
    inner: F,
    place: Option<Place>,
}

/// Where the spans of an attempt belong.
#[derive(Debug)]
enum Place {
    /// Below the caller's side of the call.
    Called(Span),
    /// Below the span that handed the message over: nobody is at the other side of its handling.
    Deferred { parent: u64, start_s: f64 },
}

impl Place {
    fn of(caller: &Hop, attempt: &Attempt) -> Place {
        let start_s = attempt.call.start_s;
        if attempt.hop.operation == PROCESS {
            // A request that enters here has no caller's side.
            let parent = span_id(caller.request, caller.path, caller.path != 0);
            return Place::Deferred { parent, start_s };
        }
        Place::Called(Span {
            id: span_id(attempt.hop.request, attempt.hop.path, true),
            parent: span_id(caller.request, caller.path, false),
            instance: caller.instance,
            operation: attempt.hop.operation.clone(),
            client: true,
            start_s,
            length_s: 0.0,
            code: model::Code::Ok,
            message: String::new(),
        })
    }

    /// Puts the spans of the reply there.
    fn take(self, reply: &mut HopReply) {
        let start_s = match &self {
            Place::Called(span) => span.start_s,
            Place::Deferred { start_s, .. } => *start_s,
        };
        reply.spans.iter_mut().for_each(|below| below.start_s += start_s);
        match self {
            Place::Called(span) => {
                let (code, message) = (reply.code, reply.message.clone());
                let span = Span { length_s: reply.latency_s, code, message, ..span };
                reply.spans.insert(0, span);
            }
            Place::Deferred { parent, .. } => {
                if let Some(own) = reply.spans.first_mut() {
                    own.parent = parent;
                }
            }
        }
    }
}

impl<F> Future for Recorded<F>
where
    F: Future<Output = Result<HopReply, MeshError>> + Unpin,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Recorded { inner, place } = self.get_mut();
        Pin::new(inner).poll(cx).map_ok(|mut reply| {
            if let Some(place) = place.take() {
                place.take(&mut reply);
            }
            reply
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ClassId, EdgeId, InstanceId, Tick};

    #[test]
    fn a_traceparent_comes_back_and_broken_ones_do_not() {
        let hop = Hop {
            request: 3,
            class: ClassId(0),
            instance: InstanceId(0),
            edge: EdgeId(0),
            operation: "Route".into(),
            path: 12,
            tick: Tick(0),
            deadline_s: 1.0,
            sampled: true,
        };
        let text = traceparent(&hop);
        assert_eq!(parse_traceparent(&text), Some((trace_id(3), span_id(3, 12, true), true)));
        for broken in [
            "",
            "00-00000000000000000000000000000000-0000000000000001-01",
            "00-0000000000000000000000000000000g-0000000000000001-01",
            "ff-00000000000000000000000000000001-0000000000000001-01",
            "00-00000000000000000000000000000001-0000000000000001",
            "00-00000000000000000000000000000001-0000000000000001-01-x",
        ] {
            assert_eq!(parse_traceparent(broken), None, "{broken}");
        }
    }

    #[test]
    fn both_sides_of_a_hop_have_spans_of_their_own() {
        assert_ne!(span_id(1, 2, true), span_id(1, 2, false));
        assert_ne!(span_id(1, 2, true), span_id(2, 1, true));
    }
}
