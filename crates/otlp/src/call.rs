//! One side of one call of a simulated request, on simulated time: what becomes a span, a point of
//! a histogram and, where it failed, a log record. All three come from here, so they agree.

use crate::scene::Scene;
use crate::time::{nanos, seconds};
use model::{ClassId, Code, HopReply, InstanceId, Tick};
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
    /// The caller's side.
    pub client: bool,
    /// Full name of the operation.
    pub method: String,
    /// Caller's side: who was called, where that is known.
    pub callee: Option<InstanceId>,
    /// First span of a request: what the user asked for.
    pub class: Option<ClassId>,
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
        let call = |span: &model::Span| {
            // A request that the network lost has no span at its callee.
            let alone = || scene.only_callee(span.instance, &span.operation);
            let callee = asked.get(&span.id).copied().or_else(alone).filter(|_| span.client);
            let start = request.offset_s + span.start_s;
            Call {
                trace: request.trace,
                id: span.id,
                parent: span.parent,
                instance: span.instance,
                client: span.client,
                method: scene.method(callee.unwrap_or(span.instance), &span.operation),
                callee,
                class: (span.parent == 0).then_some(request.class),
                start: nanos(request.tick, start),
                end: nanos(request.tick, start + span.length_s.max(0.0)),
                code: span.code,
                message: span.message.clone(),
            }
        };
        reply.spans.iter().map(call).collect()
    }

    /// Whether its status is an error. A caller sees an error in every code but OK; a callee only
    /// in those that are not the caller's fault (gRPC's table in the conventions).
    pub fn failed(&self) -> bool {
        match self.code {
            Code::Ok => false,
            Code::DeadlineExceeded | Code::Internal | Code::Unavailable => true,
            Code::NotFound
            | Code::PermissionDenied
            | Code::ResourceExhausted
            | Code::Unauthenticated => self.client,
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
            for (client_side, expected) in [(false, server), (true, client)] {
                call.client = client_side;
                assert_eq!(call.failed(), expected, "{code:?}, client {client_side}");
            }
        }
    }
}
