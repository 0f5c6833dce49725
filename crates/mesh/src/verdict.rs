//! The layer that obeys the verdict on an attempt. It decides nothing: the caller's plan drew the
//! verdict, and what is not sent is not sent.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use model::{Code, HopReply, Verdict};
use tower::{Layer, Service};

use crate::attempt::Attempt;
use crate::error::MeshError;

/// Makes [`ObeyVerdict`]s.
#[derive(Clone, Copy, Debug, Default)]
pub struct VerdictLayer;

impl<S> Layer<S> for VerdictLayer {
    type Service = ObeyVerdict<S>;

    fn layer(&self, inner: S) -> ObeyVerdict<S> {
        ObeyVerdict(inner)
    }
}

/// Obeys the verdict of every attempt.
#[derive(Clone, Copy, Debug)]
pub struct ObeyVerdict<S>(S);

impl<S> Service<Attempt> for ObeyVerdict<S>
where
    S: Service<Attempt, Response = HopReply, Error = MeshError>,
    S::Future: Unpin,
{
    type Response = HopReply;
    type Error = MeshError;
    type Future = Obeyed<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), MeshError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, attempt: Attempt) -> Obeyed<S::Future> {
        let deadline_s = attempt.call.deadline_s;
        match attempt.call.verdict {
            Verdict::Pass => Obeyed::Sent(self.0.call(attempt), 0.0),
            Verdict::Delay(delay_s) => Obeyed::Sent(self.0.call(attempt), delay_s),
            Verdict::DropReply => Obeyed::Unheard(self.0.call(attempt), deadline_s),
            Verdict::DropRequest => Obeyed::Now(Some(unheard(deadline_s))),
            Verdict::Abort => Obeyed::Now(Some(HopReply {
                code: Code::Unavailable,
                latency_s: 0.0,
                message: "connection reset before the response headers".into(),
                spans: Vec::new(),
            })),
        }
    }
}

/// What the caller sees of an attempt that nobody answers.
pub(crate) fn unheard(deadline_s: f64) -> HopReply {
    HopReply {
        code: Code::DeadlineExceeded,
        latency_s: deadline_s,
        message: format!("no response within {deadline_s} s"),
        spans: Vec::new(),
    }
}

/// The future of [`ObeyVerdict`].
#[derive(Debug)]
pub enum Obeyed<F> {
    /// Nothing was sent.
    Now(Option<HopReply>),
    /// It was sent; the round trip takes this much longer, seconds.
    Sent(F, f64),
    /// It was sent, and the answer is lost: the deadline passes, seconds.
    Unheard(F, f64),
}

impl<F> Future for Obeyed<F>
where
    F: Future<Output = Result<HopReply, MeshError>> + Unpin,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match self.get_mut() {
            Obeyed::Now(reply) => Poll::Ready(
                reply.take().ok_or_else(|| MeshError::Defect("an attempt was asked twice".into())),
            ),
            Obeyed::Sent(sent, delay_s) => Pin::new(sent).poll(cx).map_ok(|mut reply| {
                reply.latency_s += *delay_s;
                // Half of the added round trip passes before the callee starts.
                reply.spans.iter_mut().for_each(|span| span.start_s += 0.5 * *delay_s);
                reply
            }),
            Obeyed::Unheard(sent, deadline_s) => Pin::new(sent)
                .poll(cx)
                .map_ok(|reply| HopReply { spans: reply.spans, ..unheard(*deadline_s) }),
        }
    }
}
