//! The request plane: one request, hop by hop. A hop is planned by a pure function that is asked
//! again after every batch of replies; it makes calls or settles.

use crate::edge::Verdict;
use crate::ids::{ClassId, EdgeId, InstanceId};
use crate::time::Tick;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The operation by which a message is handed to whoever keeps it.
pub const PUBLISH: &str = "Publish";
/// The operation by which a message that was kept is handled. Nobody calls it and nobody waits for
/// it: a plan asks for it, and only spans come of it.
pub const PROCESS: &str = "Process";

/// The outcome of a call, in gRPC's vocabulary (those codes that the world uses).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// Answered.
    Ok,
    /// No answer within the time-out.
    DeadlineExceeded,
    /// No such route.
    NotFound,
    /// Not allowed.
    PermissionDenied,
    /// Queue full, rate limit or shed.
    ResourceExhausted,
    /// The callee failed.
    Internal,
    /// Nobody listens, the link aborts, or the breaker is open.
    Unavailable,
    /// Credentials rejected.
    Unauthenticated,
}

impl Code {
    /// All codes with gRPC's numbers, in numeric order.
    pub const ALL: [(Code, i32); 8] = [
        (Code::Ok, 0),
        (Code::DeadlineExceeded, 4),
        (Code::NotFound, 5),
        (Code::PermissionDenied, 7),
        (Code::ResourceExhausted, 8),
        (Code::Internal, 13),
        (Code::Unavailable, 14),
        (Code::Unauthenticated, 16),
    ];

    /// gRPC's number.
    pub fn number(self) -> i32 {
        Code::ALL.iter().find(|(code, _)| *code == self).map_or(2, |(_, number)| *number)
    }

    /// The code with gRPC's `number`; numbers the world does not use are `Internal`.
    pub fn from_number(number: i32) -> Code {
        Code::ALL.iter().find(|(_, n)| *n == number).map_or(Code::Internal, |(code, _)| *code)
    }

    /// gRPC's name, e.g. `UNAVAILABLE`.
    pub fn name(self) -> &'static str {
        match self {
            Code::Ok => "OK",
            Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Code::NotFound => "NOT_FOUND",
            Code::PermissionDenied => "PERMISSION_DENIED",
            Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Code::Internal => "INTERNAL",
            Code::Unavailable => "UNAVAILABLE",
            Code::Unauthenticated => "UNAUTHENTICATED",
        }
    }
}

/// One hop of one request, as its callee sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    /// The request's id; every draw is keyed by it and the path.
    pub request: u64,
    /// Its class.
    pub class: ClassId,
    /// The instance asked.
    pub instance: InstanceId,
    /// The edge it comes over.
    pub edge: EdgeId,
    /// The operation, e.g. `Verify`.
    pub operation: String,
    /// Hash of the hops and attempt numbers that led here.
    pub path: u64,
    /// The tick it belongs to; the hop reads history up to the tick before.
    pub tick: Tick,
    /// Virtual time left until the caller gives up, seconds.
    pub deadline_s: f64,
    /// Collect spans.
    pub sampled: bool,
}

/// One attempt that a hop makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The edge it goes over.
    pub edge: EdgeId,
    /// Whom it asks.
    pub to: InstanceId,
    /// The operation asked for.
    pub operation: String,
    /// Attempt number within its call, from 0.
    pub attempt: u32,
    /// Time-out of this attempt, seconds of virtual time.
    pub deadline_s: f64,
    /// What the edge does to it; the mesh obeys.
    pub verdict: Verdict,
    /// When the attempt starts, seconds of virtual time after the hop began.
    pub start_s: f64,
}

/// How a hop ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HopReply {
    /// The outcome.
    pub code: Code,
    /// Virtual time it took, as its caller saw it, seconds.
    pub latency_s: f64,
    /// A sentence for logs where it failed.
    pub message: String,
    /// Spans of the hop and below, if sampled; the first one is the hop's own.
    pub spans: Vec<Span>,
}

/// What a hop does next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Next {
    /// Make these attempts, then ask again with all replies so far.
    Call(Vec<Call>),
    /// The hop is over.
    Settle(HopReply),
}

/// What a span is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpanKind {
    /// The callee's side of a call.
    Server,
    /// The caller's side of it.
    Client,
    /// Handing a message over.
    Producer,
    /// Handling a message, later.
    Consumer,
}

impl SpanKind {
    /// Its name, e.g. `client`.
    pub fn name(self) -> &'static str {
        match self {
            SpanKind::Client => "client",
            SpanKind::Server => "server",
            SpanKind::Producer => "producer",
            SpanKind::Consumer => "consumer",
        }
    }
}

/// One span of a simulated trace; times are offsets from the start of the root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Span id, from the request and the path.
    pub id: u64,
    /// Parent's id, 0 for the root.
    pub parent: u64,
    /// Whose span.
    pub instance: InstanceId,
    /// The operation.
    pub operation: String,
    /// True: the caller's side of a call; false: the callee's.
    pub client: bool,
    /// Offset of its start, seconds.
    pub start_s: f64,
    /// Its length, seconds.
    pub length_s: f64,
    /// Its outcome.
    pub code: Code,
    /// A sentence where it failed.
    pub message: String,
}

impl Span {
    /// What it is of.
    pub fn kind(&self) -> SpanKind {
        match (self.client, self.operation.as_str()) {
            (true, PUBLISH) => SpanKind::Producer,
            (true, _) => SpanKind::Client,
            (false, PROCESS) => SpanKind::Consumer,
            (false, _) => SpanKind::Server,
        }
    }

    /// Ids of those of `spans` that belong to the handling of a message; parents come first.
    pub fn deferred(spans: &[Span]) -> BTreeSet<u64> {
        let mut ids = BTreeSet::new();
        for span in spans {
            if span.kind() == SpanKind::Consumer || ids.contains(&span.parent) {
                ids.insert(span.id);
            }
        }
        ids
    }
}
