//! One side of one call of a simulated request, on simulated time: what becomes a span, a point of
//! a histogram and, where it failed, a log record. All three come from here, so they agree.

use crate::names;
use crate::scene::Scene;
use crate::time::{nanos, seconds};
use model::{ClassId, Code, HopReply, InstanceId, Span, SpanKind, Tick};
use std::collections::BTreeMap;

/// A request that was sent into the simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Its tick.
    pub tick: Tick,
    /// When in the tick it begins, seconds.
    pub offset_s: f64,
    /// The id of its trace.
    pub trace: u128,
    /// Its class.
    pub class: ClassId,
}

/// One side of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The id of its trace.
    pub trace: u128,
    /// The id of its span.
    pub id: u64,
    /// The span above; 0 for the first.
    pub parent: u64,
    /// Whose side.
    pub instance: InstanceId,
    /// What it is of.
    pub kind: SpanKind,
    /// Full name of the operation.
    pub method: String,
    /// The caller's side: who was called, where that is known.
    pub callee: Option<InstanceId>,
    /// First span of a request: what the user asked for.
    pub class: Option<ClassId>,
    /// It belongs to the handling of a message, for which nobody waits.
    pub deferred: bool,
    /// Start, nanoseconds of simulated Unix time.
    pub start: u64,
    /// End.
    pub end: u64,
    /// How it ended.
    pub code: Code,
    /// A sentence where it failed.
    pub message: String,
}

impl Call {
    /// All sides of all calls of a request.
    pub fn of(scene: &Scene, request: &Request, reply: &HopReply) -> Vec<Call> {
        let servers = reply.spans.iter().filter(|span| !span.client);
        let asked: BTreeMap<u64, InstanceId> =
            servers.map(|span| (span.parent, span.instance)).collect();
        let deferred = Span::deferred(&reply.spans);
        let call = |span: &Span| {
            // A request that the network lost has no span at its callee.
            let alone = || scene.only_callee(span.instance, &span.operation);
            let callee = asked.get(&span.id).copied().or_else(alone).filter(|_| span.client);
            let kind = match span.kind() {
                // Nobody knows whom the message was for.
                SpanKind::Producer if callee.is_none() => SpanKind::Client,
                kind => kind,
            };
            let start = request.offset_s + span.start_s;
            Call {
                trace: request.trace,
                id: span.id,
                parent: span.parent,
                instance: span.instance,
                kind,
                method: scene.method(callee.unwrap_or(span.instance), &span.operation),
                callee,
                class: (span.parent == 0).then_some(request.class),
                deferred: deferred.contains(&span.id),
                start: nanos(request.tick, start),
                end: nanos(request.tick, start + span.length_s.max(0.0)),
                code: span.code,
                message: span.message.clone(),
            }
        };
        reply.spans.iter().map(call).collect()
    }

    /// Whether its status is an error. A callee sees one only in those codes that are not its
    /// caller's fault (gRPC's table in the conventions), all others in every code but OK.
    pub fn failed(&self) -> bool {
        match self.code {
            Code::Ok => false,
            Code::DeadlineExceeded | Code::Internal | Code::Unavailable => true,
            Code::NotFound
            | Code::PermissionDenied
            | Code::ResourceExhausted
            | Code::Unauthenticated => self.kind != SpanKind::Server,
        }
    }

    /// What it is called as a span: its operation, or what is done with whose message.
    pub(crate) fn name(&self, scene: &Scene) -> String {
        match self.messaging() {
            Some((operation, keeper, _)) => format!("{operation} {}", scene.name(keeper)),
            None => self.method.clone(),
        }
    }

    /// Of a message: what is done with it, who keeps it, and its id, which is that of the span that
    /// handed it over.
    pub(crate) fn messaging(&self) -> Option<(&'static str, InstanceId, u64)> {
        match self.kind {
            SpanKind::Client | SpanKind::Server => None,
            SpanKind::Producer => Some((names::SEND, self.callee?, self.id)),
            SpanKind::Consumer => Some((names::PROCESS, self.instance, self.parent)),
        }
    }

    /// Its length.
    pub fn seconds(&self) -> f64 {
        seconds(self.start, self.end)
    }

    /// Its place in the order in which calls are written.
    pub(crate) fn key(&self) -> (u64, u128, u64) {
        (self.end, self.trace, self.id)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::scene::tests::topology;
    use model::{EpisodeId, Span};

    /// The front asks the login, and then for orders; the second is lost.
    pub(crate) fn reply() -> HopReply {
        let span = |id, parent, instance, operation: &str, client, start_s, length_s, code| Span {
            id,
            parent,
            instance: InstanceId(instance),
            operation: operation.into(),
            client,
            start_s,
            length_s,
            code,
            message: if code == Code::Ok { String::new() } else { "orders: no answer".into() },
        };
        let late = Code::DeadlineExceeded;
        HopReply {
            code: late,
            latency_s: 0.9,
            message: String::new(),
            spans: vec![
                span(1, 0, 2, "Route", false, 0.0, 0.9, late),
                span(2, 1, 2, "Verify", true, 0.001, 0.004, Code::Ok),
                span(3, 2, 3, "Verify", false, 0.001, 0.003, Code::Ok),
                span(4, 1, 2, "Query", true, 0.1, 0.8, late),
            ],
        }
    }

    /// The front has a message kept, which is handled much later, with a call that fails it.
    pub(crate) fn posted() -> HopReply {
        let span = |id, parent, instance, operation: &str, client, start_s, code| Span {
            id,
            parent,
            instance: InstanceId(instance),
            operation: operation.into(),
            client,
            start_s,
            length_s: 0.25,
            code,
            message: String::new(),
        };
        let failed = Code::Internal;
        HopReply {
            code: Code::Ok,
            latency_s: 0.25,
            message: String::new(),
            spans: vec![
                span(1, 0, 2, "Route", false, 0.0, Code::Ok),
                span(2, 1, 2, "Publish", true, 0.0, Code::Ok),
                span(3, 2, 3, "Publish", false, 0.0, Code::Ok),
                span(4, 2, 3, "Process", false, 40.0, failed),
                span(5, 4, 3, "Query", true, 40.0, failed),
                span(6, 5, 4, "Query", false, 40.0, failed),
            ],
        }
    }

    pub(crate) fn request() -> Request {
        Request { tick: Tick(5), offset_s: 0.25, trace: 0xabc, class: ClassId(0) }
    }

    #[test]
    fn calls_have_absolute_times_callees_and_full_names() {
        let scene = Scene::new(&topology(), EpisodeId(1));
        let calls = Call::of(&scene, &request(), &reply());
        assert_eq!(calls[0].start, nanos(Tick(5), 0.25));
        assert_eq!(calls[0].class, Some(ClassId(0)));
        assert_eq!(calls[1].method, "mayday.auth.v1.Auth/Verify");
        assert_eq!(calls[2].method, calls[1].method);
        assert_eq!(calls[1].callee, Some(InstanceId(3)));
        // Lost on its way: known from the topology.
        assert_eq!(calls[3].callee, Some(InstanceId(4)));
        assert_eq!(calls[3].method, "mayday.db.v1.Db/Query");
        assert_eq!(calls[3].end, nanos(Tick(5), 1.15));
        assert!(calls[1..].iter().all(|call| call.class.is_none()));
    }

    #[test]
    fn a_message_has_who_sends_it_and_who_handles_it() {
        let scene = Scene::new(&topology(), EpisodeId(1));
        let calls = Call::of(&scene, &request(), &posted());
        let names: Vec<_> = calls.iter().map(|call| call.name(&scene)).collect();
        assert_eq!((names[1].as_str(), names[3].as_str()), ("send login", "process login"));
        assert_eq!(names[2], "mayday.auth.v1.Auth/Publish");
        let (sent, handled) = (calls[1].messaging().unwrap(), calls[3].messaging().unwrap());
        assert_eq!((sent.2, handled.2), (2, 2), "it is one message");
        let deferred: Vec<_> = calls.iter().map(|call| call.deferred).collect();
        assert_eq!(deferred, [false, false, false, true, true, true]);
    }

    #[test]
    fn what_a_caller_did_wrong_is_no_error_of_the_callee() {
        let scene = Scene::new(&topology(), EpisodeId(1));
        let mut call = Call::of(&scene, &request(), &reply()).remove(0);
        for (code, server, client) in [
            (Code::Ok, false, false),
            (Code::DeadlineExceeded, true, true),
            (Code::Internal, true, true),
            (Code::ResourceExhausted, false, true),
            (Code::Unauthenticated, false, true),
        ] {
            call.code = code;
            for (kind, expected) in [
                (SpanKind::Server, server),
                (SpanKind::Client, client),
                (SpanKind::Producer, client),
                (SpanKind::Consumer, client),
            ] {
                call.kind = kind;
                assert_eq!(call.failed(), expected, "{code:?}, {kind:?}");
            }
        }
    }
}
