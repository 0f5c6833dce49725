//! Repeats of a call to a component process that gives no answer. Safe for every call: reads
//! change nothing, and a process answers a repeated sequenced call with the same reply. Real time
//! passes here and nowhere in the simulation.

use std::future::Future;
use std::time::{Duration, Instant};

use mesh::status::{describe, is_transient};
use tonic::{Code, Status};

use crate::error::FleetError;
use crate::links::Link;

/// How patient a fleet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteConfig {
    /// Longest wait for one answer.
    pub attempt_timeout: Duration,
    /// Most attempts.
    pub attempts_max: u32,
    /// No attempt starts later than this after the first.
    pub patience: Duration,
    /// Wait before the second attempt; doubles with each.
    pub backoff_first: Duration,
    /// Longest wait between attempts.
    pub backoff_max: Duration,
    /// After so long without an answer the log says who gives none, once until it answers again.
    pub silence: Duration,
}

impl Default for RemoteConfig {
    fn default() -> Self {
        RemoteConfig {
            attempt_timeout: Duration::from_secs(3),
            attempts_max: 16,
            patience: Duration::from_secs(20),
            backoff_first: Duration::from_millis(20),
            backoff_max: Duration::from_secs(1),
            silence: Duration::from_secs(3),
        }
    }
}

/// Why one attempt failed.
#[derive(Debug)]
pub(crate) enum Failed {
    /// No answer; another attempt may get one.
    Silent {
        /// The kind that gave none.
        kind: String,
        /// What the transport said.
        reason: String,
    },
    /// An answer that another attempt would get as well.
    Final(FleetError),
}

impl Failed {
    /// What a status of `kind` means for its call number `seq`.
    pub(crate) fn of(kind: &str, seq: u64, status: &Status) -> Failed {
        let kind = kind.to_string();
        if is_transient(status) {
            return Failed::Silent { kind, reason: describe(status) };
        }
        let reason = status.message().to_string();
        Failed::Final(match status.code() {
            Code::NotFound | Code::OutOfRange => FleetError::Lost { kind, seq },
            Code::FailedPrecondition
            | Code::Unauthenticated
            | Code::PermissionDenied
            | Code::ResourceExhausted => FleetError::Refused { kind, reason },
            code => FleetError::Defect(format!("{kind} answered {code:?}: {reason}")),
        })
    }
}

impl RemoteConfig {
    /// Makes attempts over `link` until one is answered. In memory there is one, without a timer.
    pub(crate) async fn persist<T, F>(
        &self,
        kind: &str,
        link: &Link,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, FleetError>
    where
        F: Future<Output = Result<T, Failed>>,
    {
        let Some(address) = &link.address else {
            return attempt().await.map_err(|failed| failed.after(1, "this process"));
        };
        let (started, mut backoff, mut attempts) = (Instant::now(), self.backoff_first, 0);
        loop {
            attempts += 1;
            let answered = tokio::time::timeout(self.attempt_timeout, attempt()).await;
            let failed = match answered {
                Ok(Ok(answer)) => {
                    if link.note_answer() {
                        tracing::info!("{kind} at {address} answers again");
                    }
                    return Ok(answer);
                }
                Ok(Err(failed @ Failed::Final(_))) => return Err(failed.after(attempts, address)),
                Ok(Err(failed)) => failed,
                Err(_) => Failed::Silent {
                    kind: kind.to_string(),
                    reason: format!("no answer within {} ms", self.attempt_timeout.as_millis()),
                },
            };
            if started.elapsed() >= self.silence && link.note_silence() {
                let reason = failed.reason();
                tracing::warn!(
                    "{kind} at {address} gives no answer ({reason}); asking again. If the process \
                     is gone, start it again at that address"
                );
            }
            let spent = started.elapsed() + backoff >= self.patience;
            if attempts >= self.attempts_max || spent {
                return Err(failed.after(attempts, address));
            }
            tracing::debug!(kind, attempts, ?failed, "asking again");
            tokio::time::sleep(backoff).await;
            backoff = (backoff * 2).min(self.backoff_max);
        }
    }
}

impl Failed {
    fn reason(&self) -> String {
        match self {
            Failed::Final(error) => error.to_string(),
            Failed::Silent { reason, .. } => reason.clone(),
        }
    }

    /// The failure of a call after so many attempts.
    fn after(self, attempts: u32, address: &str) -> FleetError {
        match self {
            Failed::Final(error) => error,
            Failed::Silent { kind, reason } => {
                FleetError::Unreachable { kind, address: address.to_string(), attempts, reason }
            }
        }
    }
}
