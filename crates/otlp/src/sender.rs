//! Brings export requests to a collector, in a thread of its own, in order, through a bounded queue
//! per signal. Whatever happens to them is counted and changes nothing for those who offer them.

use crate::config::{Config, Target};
use crate::payload::{Payload, Signal};
use crate::stats::Stats;
use crate::transport::{Refused, Taken, Transport};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

/// Tries after the first one, while the collector was well just before.
const RETRIES: u32 = 3;
/// The wait before the first of them; it doubles.
const BACKOFF: Duration = Duration::from_millis(100);

/// What to do with a request that the queue has no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Count it and go on: somebody waits for an answer.
    Drop,
    /// Wait for room, as long as the collector takes requests.
    Wait,
}

/// One signal's queue.
#[derive(Debug)]
struct Queue {
    requests: mpsc::Sender<Payload>,
    /// The collector did not take the last request.
    failing: Arc<AtomicBool>,
    accepted: AtomicU64,
}

/// The sender. When it is dropped, what waits is still sent, unless the process ends before.
#[derive(Debug)]
pub struct Sender {
    queues: BTreeMap<Signal, Queue>,
    stats: Arc<Stats>,
    closing: watch::Sender<bool>,
    done: watch::Receiver<bool>,
}

impl Sender {
    /// Begins; connects when there is something to send.
    ///
    /// # Errors
    /// Where the system has no thread or runtime for it.
    pub fn start(config: &Config) -> std::io::Result<Sender> {
        let stats = Arc::new(Stats::default());
        let (mut queues, mut works) = (BTreeMap::new(), Vec::new());
        let (closing, closed) = watch::channel(false);
        for (signal, target) in &config.targets {
            let (requests, waiting) = mpsc::channel(config.queue.max(1));
            let failing = Arc::new(AtomicBool::new(false));
            works.push(Work {
                signal: *signal,
                target: target.clone(),
                waiting,
                closing: closed.clone(),
                failing: failing.clone(),
                stats: stats.clone(),
            });
            queues.insert(*signal, Queue { requests, failing, accepted: AtomicU64::new(0) });
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (tell, done) = watch::channel(false);
        std::thread::Builder::new().name("otlp".into()).spawn(move || {
            runtime.block_on(async {
                let works = works.into_iter().map(|work| tokio::spawn(work.run()));
                for work in works.collect::<Vec<_>>() {
                    // Only a panic in it; its requests then count as unanswered.
                    let _ = work.await;
                }
            });
            tell.send_replace(true);
        })?;
        Ok(Sender { queues, stats, closing, done })
    }

    /// Whether anybody wants this signal.
    pub fn wants(&self, signal: Signal) -> bool {
        self.queues.contains_key(&signal)
    }

    /// What became of requests so far.
    pub fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// Takes a request; one of a signal that is not exported is forgotten.
    pub async fn offer(&self, payload: Payload, overflow: Overflow) {
        let signal = payload.signal();
        let Some(queue) = self.queues.get(&signal) else { return };
        // The queue itself closes when the request under way has ended, which may take long.
        if *self.closing.borrow() {
            return self.stats.dropped(signal);
        }
        let taken = match queue.requests.try_send(payload) {
            Ok(()) => true,
            Err(TrySendError::Full(payload)) => {
                let patient = overflow == Overflow::Wait && !queue.failing.load(Ordering::Relaxed);
                patient && queue.requests.send(payload).await.is_ok()
            }
            Err(TrySendError::Closed(_)) => false,
        };
        if taken {
            queue.accepted.fetch_add(1, Ordering::Relaxed);
        } else {
            self.stats.dropped(signal);
        }
    }

    /// Takes no more, and sends what waits: for `patience` at most, or, where there is time to
    /// wait, as long as the collector takes a request in every such while. The rest counts as
    /// failed.
    pub async fn finish(&self, overflow: Overflow, patience: Duration) {
        self.closing.send_replace(true);
        let mut done = self.done.clone();
        let mut sent = self.stats.all().sent;
        while timeout(patience, done.wait_for(|done| *done)).await.is_err() {
            let now = self.stats.all().sent;
            if overflow == Overflow::Drop || now == sent {
                return self.give_up();
            }
            sent = now;
        }
    }

    fn give_up(&self) {
        for (signal, queue) in &self.queues {
            let now = self.stats.counts(*signal);
            let accepted = queue.accepted.load(Ordering::Relaxed);
            self.stats.failed(*signal, accepted.saturating_sub(now.sent + now.failed));
        }
    }
}

/// The work for one signal.
struct Work {
    signal: Signal,
    target: Target,
    waiting: mpsc::Receiver<Payload>,
    closing: watch::Receiver<bool>,
    failing: Arc<AtomicBool>,
    stats: Arc<Stats>,
}

impl Work {
    async fn run(mut self) {
        let mut transport = Transport::new(self.signal, &self.target);
        let mut warned = false;
        while let Some(payload) = self.next().await {
            match self.persist(&mut transport, &payload).await {
                Ok(Taken { rejected, message }) => {
                    self.stats.sent(self.signal, rejected);
                    if !message.is_empty() && !std::mem::replace(&mut warned, true) {
                        let signal = self.signal.name();
                        tracing::warn!(to = %self.target.uri, signal, message, "not all is taken");
                    }
                    if self.failing.swap(false, Ordering::Relaxed) {
                        tracing::info!(to = %self.target.uri, "telemetry is taken again");
                    }
                }
                Err(Refused { cause, .. }) => {
                    self.stats.failed(self.signal, 1);
                    if !self.failing.swap(true, Ordering::Relaxed) {
                        let (signal, Target { uri, protocol, .. }) =
                            (self.signal.name(), &self.target);
                        tracing::warn!(to = %uri, %protocol, signal, cause, "telemetry is lost");
                    }
                }
            }
        }
    }

    /// The next request; `None` after the last one.
    async fn next(&mut self) -> Option<Payload> {
        if !*self.closing.borrow() {
            tokio::select! {
                payload = self.waiting.recv() => return payload,
                _ = self.closing.wait_for(|closing| *closing) => {}
            }
        }
        self.waiting.close();
        self.waiting.recv().await
    }

    /// A collector that was well before gets more than one try.
    async fn persist(
        &self,
        transport: &mut Transport,
        payload: &Payload,
    ) -> Result<Taken, Refused> {
        let retries = if self.failing.load(Ordering::Relaxed) { 0 } else { RETRIES };
        let mut attempt = 0;
        loop {
            let late = |_| Refused { cause: "no answer in time".into(), again: true };
            let sent = timeout(self.target.timeout, transport.send(payload)).await;
            match sent.map_err(late).and_then(|sent| sent) {
                Err(refused) if refused.again && attempt < retries => {
                    sleep(BACKOFF * 2u32.pow(attempt)).await;
                    attempt += 1;
                }
                ended => return ended,
            }
        }
    }
}

#[cfg(test)]
mod tests;
