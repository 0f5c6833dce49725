//! The layer that keeps the virtual deadline of an attempt. It arms no timer: it compares the
//! virtual latency in the reply, so a slow simulator never looks like a slow component.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use model::HopReply;
use tower::{Layer, Service};

use crate::attempt::Attempt;
use crate::error::MeshError;
use crate::verdict::unheard;

/// Metadata that carries the deadline of a hop, microseconds of virtual time.
pub const METADATA: &str = "x-mayday-deadline-us";

/// The deadline as metadata says it; longer than 2⁵³ µs is as good as never.
pub fn micros(deadline_s: f64) -> u64 {
    (deadline_s * 1e6).clamp(0.0, 9_007_199_254_740_992.0) as u64
}

/// Makes [`KeepDeadline`]s.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeadlineLayer;

impl<S> Layer<S> for DeadlineLayer {
    type Service = KeepDeadline<S>;

    fn layer(&self, inner: S) -> KeepDeadline<S> {
        KeepDeadline(inner)
    }
}

/// Turns a reply that comes after the deadline of its attempt into "no response in time".
#[derive(Clone, Copy, Debug)]
pub struct KeepDeadline<S>(S);

impl<S> Service<Attempt> for KeepDeadline<S>
where
    S: Service<Attempt, Response = HopReply, Error = MeshError>,
    S::Future: Unpin,
{
    type Response = HopReply;
    type Error = MeshError;
    type Future = Kept<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), MeshError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, attempt: Attempt) -> Kept<S::Future> {
        let deadline_s = attempt.call.deadline_s;
        Kept { inner: self.0.call(attempt), deadline_s }
    }
}

/// The future of [`KeepDeadline`].
#[derive(Debug)]
pub struct Kept<F> {
    inner: F,
    deadline_s: f64,
}

impl<F> Future for Kept<F>
where
    F: Future<Output = Result<HopReply, MeshError>> + Unpin,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Kept { inner, deadline_s } = self.get_mut();
        Pin::new(inner).poll(cx).map_ok(|reply| {
            if reply.latency_s <= *deadline_s {
                return reply;
            }
            // The callee goes on working, so its spans stay as they are.
            HopReply { spans: reply.spans, ..unheard(*deadline_s) }
        })
    }
}
