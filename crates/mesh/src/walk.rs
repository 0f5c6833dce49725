//! The walk of one hop: plan, make the attempts that the plan asks for, plan again with their
//! replies, until the hop settles. One function for every body, generic over the arm that reaches
//! the callees; it is polled in the caller's task and spawns nothing.

use std::task::{Context, Poll};

use futures_util::future::try_join_all;
use model::{Hop, HopReply, Next};
use tower::{Service, ServiceBuilder, ServiceExt};

use crate::attempt::{Attempt, Reached};
use crate::deadline::DeadlineLayer;
use crate::error::MeshError;
use crate::trace::{self, TraceLayer};
use crate::verdict::VerdictLayer;

/// Batches after which a plan is taken for one that never settles.
const BATCHES_MAX: usize = 64;

/// Where hops are planned, and how their attempts reach the callees.
pub trait Arm: Sync {
    /// The next thing that `hop` does, given all replies so far.
    ///
    /// # Errors
    /// Where the machine of the hop's instance is not here.
    fn plan(&self, hop: &Hop, replies: &[HopReply]) -> Result<Next, MeshError>;

    /// Answers a hop at its instance, wherever that is.
    fn send(&self, hop: Hop) -> Reached<'_>;
}

/// Answers `hop`, whose instance the arm can plan for.
///
/// # Errors
/// Only for failures of the simulator; a simulated one is a reply with its code.
pub async fn walk<A: Arm>(arm: &A, hop: &Hop) -> Result<HopReply, MeshError> {
    // Outermost first: the caller's span sees what the deadline made of what the verdict left.
    let stack = ServiceBuilder::new()
        .layer(TraceLayer { caller: hop })
        .layer(DeadlineLayer)
        .layer(VerdictLayer)
        .service(Sender(arm));
    let (mut replies, mut spans) = (Vec::new(), Vec::new());
    for _ in 0..BATCHES_MAX {
        let calls = match arm.plan(hop, &replies)? {
            Next::Settle(reply) => return Ok(trace::close(hop, reply, spans)),
            Next::Call(calls) => calls,
        };
        let attempts = calls.into_iter().map(|call| Attempt::new(hop, call));
        let sent = attempts.map(|attempt| stack.clone().oneshot(attempt));
        for mut reply in try_join_all(sent).await? {
            // A plan must not be able to see whether the request is sampled.
            spans.append(&mut reply.spans);
            replies.push(reply);
        }
    }
    let Hop { operation, instance, .. } = hop;
    Err(MeshError::Defect(format!(
        "{operation} at instance {} did not settle within {BATCHES_MAX} batches of calls",
        instance.0
    )))
}

/// The innermost service: the arm itself.
#[derive(Debug)]
struct Sender<'a, A>(&'a A);

impl<A> Clone for Sender<'_, A> {
    fn clone(&self) -> Self {
        Sender(self.0)
    }
}

impl<'a, A: Arm> Service<Attempt> for Sender<'a, A> {
    type Response = HopReply;
    type Error = MeshError;
    type Future = Reached<'a>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), MeshError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, attempt: Attempt) -> Reached<'a> {
        self.0.send(attempt.hop)
    }
}
