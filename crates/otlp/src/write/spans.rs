//! Calls as spans.

use crate::attribute::text;
use crate::call::Call;
use crate::names;
use crate::scene::{Scene, scope};
use crate::write::by_instance;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::{Event, Link, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};

/// Sampled, and it is known whether the parent is elsewhere.
const LOCAL_PARENT: u32 = 0x101;
/// Sampled, and the parent is elsewhere.
const REMOTE_PARENT: u32 = 0x301;

pub(crate) fn write(scene: &Scene, calls: &[Call], events: bool) -> ExportTraceServiceRequest {
    let spans = calls.iter().map(|call| (call.instance, span(scene, call, events)));
    let resource_spans = by_instance(spans).into_iter().map(|(of, spans)| ResourceSpans {
        resource: scene.resource(of),
        scope_spans: vec![ScopeSpans {
            scope: Some(scope()),
            spans,
            schema_url: names::SCHEMA.into(),
        }],
        schema_url: names::SCHEMA.into(),
    });
    ExportTraceServiceRequest { resource_spans: resource_spans.collect() }
}

fn span(scene: &Scene, call: &Call, events: bool) -> Span {
    let mut attributes = attributes(scene, call);
    if let Some((_, _, id)) = call.messaging() {
        attributes.push(text(names::MESSAGING_MESSAGE_ID, format!("{id:016x}")));
    }
    if let Some(class) = call.class {
        attributes.push(text(names::CLASS, scene.class(class.at())));
    }
    let (kind, elsewhere) = match call.kind {
        model::SpanKind::Client => (SpanKind::Client, false),
        model::SpanKind::Producer => (SpanKind::Producer, false),
        model::SpanKind::Server => (SpanKind::Server, true),
        model::SpanKind::Consumer => (SpanKind::Consumer, true),
    };
    let remote = elsewhere && call.parent != 0;
    let error = || Status { message: call.message.clone(), code: StatusCode::Error.into() };
    Span {
        trace_id: call.trace.to_be_bytes().to_vec(),
        span_id: call.id.to_be_bytes().to_vec(),
        parent_span_id: match call.parent {
            0 => Vec::new(),
            parent => parent.to_be_bytes().to_vec(),
        },
        flags: if remote { REMOTE_PARENT } else { LOCAL_PARENT },
        name: call.name(scene),
        kind: kind.into(),
        start_time_unix_nano: call.start,
        end_time_unix_nano: call.end,
        attributes,
        links: if call.kind == model::SpanKind::Consumer { vec![link(call)] } else { Vec::new() },
        events: if events && call.failed() { vec![exception(call)] } else { Vec::new() },
        // What ended well has no status: "unset" is what instrumentation leaves.
        status: call.failed().then(error),
        ..Span::default()
    }
}

/// From the handling of a message to where it was made. It is the parent as well, but that is not
/// what the conventions rely on.
fn link(call: &Call) -> Link {
    Link {
        trace_id: call.trace.to_be_bytes().to_vec(),
        span_id: call.parent.to_be_bytes().to_vec(),
        flags: REMOTE_PARENT,
        ..Link::default()
    }
}

/// What the log record of a failed call says, as an event of its span.
fn exception(call: &Call) -> Event {
    Event {
        time_unix_nano: call.end,
        name: names::SPAN_EXCEPTION.into(),
        attributes: vec![
            text(names::EXCEPTION_TYPE, call.code.name()),
            text(names::EXCEPTION_MESSAGE, &*call.message),
        ],
        ..Event::default()
    }
}

/// What was done.
pub(crate) fn operation(scene: &Scene, call: &Call) -> Vec<KeyValue> {
    match call.messaging() {
        None => vec![text(names::RPC_SYSTEM, names::GRPC), text(names::RPC_METHOD, &*call.method)],
        Some((operation, keeper, _)) => vec![
            text(names::MESSAGING_SYSTEM, names::MAYDAY),
            text(names::MESSAGING_OPERATION, operation),
            text(names::MESSAGING_OPERATION_TYPE, operation),
            text(names::MESSAGING_DESTINATION, scene.name(keeper)),
        ],
    }
}

/// What a span and a point of a histogram say about a call alike.
pub(crate) fn attributes(scene: &Scene, call: &Call) -> Vec<KeyValue> {
    let mut attributes = operation(scene, call);
    if call.messaging().is_none() {
        attributes.push(text(names::RPC_STATUS, call.code.name()));
    }
    if call.failed() {
        attributes.push(text(names::ERROR_TYPE, call.code.name()));
    }
    if let Some(callee) = call.callee {
        attributes.push(text(names::SERVER_ADDRESS, scene.name(callee)));
    }
    attributes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::text;
    use crate::call::tests::{posted, reply, request};
    use crate::scene::tests::topology;
    use model::EpisodeId;

    #[test]
    fn spans_keep_their_parents_and_say_what_failed() {
        let scene = Scene::new(&topology(), EpisodeId(1));
        let calls = Call::of(&scene, &request(), &reply());
        let written = write(&scene, &calls, false);
        assert_eq!(written.resource_spans.len(), 2, "one resource per instance");
        let front = &written.resource_spans[0].scope_spans[0].spans;
        let root = &front[0];
        assert!(root.parent_span_id.is_empty() && root.kind == SpanKind::Server as i32);
        assert_eq!(root.trace_id.len(), 16);
        let status = root.status.as_ref().unwrap();
        assert_eq!(status.code, StatusCode::Error as i32);
        assert_eq!(status.message, "orders: no answer");
        assert!(front[1].status.is_none() && front[1].kind == SpanKind::Client as i32);
        let login = &written.resource_spans[1].scope_spans[0].spans[0];
        assert_eq!(login.parent_span_id, front[1].span_id);
        assert_eq!((login.flags, front[1].flags), (REMOTE_PARENT, LOCAL_PARENT));
        assert!(root.events.is_empty());
        let events = write(&scene, &calls, true);
        let front = &events.resource_spans[0].scope_spans[0].spans;
        assert_eq!(front[0].events[0].name, "exception");
        assert_eq!(front[0].events[0].time_unix_nano, root.end_time_unix_nano);
        assert!(front[1].events.is_empty());
    }

    #[test]
    fn the_handling_of_a_message_is_below_and_linked_to_the_span_that_sent_it() {
        let scene = Scene::new(&topology(), EpisodeId(1));
        let calls = Call::of(&scene, &request(), &posted());
        let written = write(&scene, &calls, false);
        let of = |at: usize| &written.resource_spans[at].scope_spans[0].spans;
        let (sent, handled) = (&of(0)[1], &of(1)[1]);
        assert_eq!(
            (sent.kind, handled.kind),
            (SpanKind::Producer.into(), SpanKind::Consumer.into())
        );
        assert_eq!(handled.parent_span_id, sent.span_id);
        assert_eq!(
            (&handled.links[0].span_id, &handled.links[0].trace_id),
            (&sent.span_id, &sent.trace_id)
        );
        assert!(sent.links.is_empty() && handled.flags == REMOTE_PARENT);
        for (span, operation) in [(sent, "send"), (handled, "process")] {
            for attribute in [
                text("messaging.system", "mayday"),
                text("messaging.operation.name", operation),
                text("messaging.operation.type", operation),
                text("messaging.destination.name", "login"),
                text("messaging.message.id", "0000000000000002"),
            ] {
                assert!(span.attributes.contains(&attribute), "{span:?}");
            }
            assert!(span.attributes.iter().all(|a| !a.key.starts_with("rpc.")), "{span:?}");
        }
        assert!(handled.attributes.contains(&text("error.type", "INTERNAL")));
    }
}
