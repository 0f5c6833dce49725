//! Whom assignments are asked of: an evaluation in this process, or the control port of a server
//! elsewhere.

use super::evaluation::{AssignmentKey, Evaluation};
use super::office::Standing;
use super::outcome::Ended;
use super::plan::Subject;
use super::service::{from_wire, to_wire};
use crate::body::token;
use crate::failure::Failure;
use chassis::Token;
use mesh::Channel;
use proto::evaluation::v1 as pb;
use proto::evaluation::v1::evaluations_client::EvaluationsClient;
use std::time::Duration;
use tonic::{Code, Status};

/// A watch is asked again after this long.
const WATCH: Duration = Duration::from_secs(10);
/// An answer that takes longer than this, beyond what was asked for, does not come.
const PATIENCE: Duration = Duration::from_secs(20);
/// A server that was there is asked so often, and in this rhythm, before it is given up.
const ATTEMPTS: u32 = 12;
const BACKOFF: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(3));

/// Gives out assignments. Cloning shares it.
#[derive(Clone, Debug)]
pub enum Proctor {
    /// In this process.
    Here(Evaluation),
    /// Elsewhere.
    There(Box<Remote>),
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// What it makes seeds with.
    pub secret: String,
    /// Revision of its world.
    pub world_revision: u32,
    /// What it can assign.
    pub subjects: Vec<Subject>,
}

impl Proctor {
    /// What there is.
    ///
    /// # Errors
    /// Where a server elsewhere does not answer, or does not evaluate.
    pub async fn describe(&self) -> Result<Described, Failure> {
        match self {
            Proctor::Here(evaluation) => {
                let subjects = evaluation.scenarios().map(|scenario| {
                    Ok(Subject {
                        name: scenario.name.clone(),
                        title: scenario.title.clone(),
                        healthy: scenario.healthy,
                        hash: scenario.hash().map_err(Failure::failed)?.to_string(),
                        steps: scenario.timing.step_limit,
                    })
                });
                Ok(Described {
                    secret: evaluation.secret().fingerprint(),
                    world_revision: record::WORLD_REVISION,
                    subjects: subjects.collect::<Result<_, Failure>>()?,
                })
            }
            Proctor::There(remote) => remote.describe().await,
        }
    }

    /// Gives an assignment out; its task.
    ///
    /// # Errors
    /// Where it cannot be had.
    pub async fn assign(&self, key: &AssignmentKey) -> Result<String, Failure> {
        match self {
            Proctor::Here(evaluation) => evaluation.assign(key),
            Proctor::There(remote) => {
                let AssignmentKey { evaluation, scenario, seed, repeat, run, secret } = key.clone();
                let request = pb::AssignRequest { evaluation, scenario, seed, repeat, run, secret };
                let assigned = remote.ask(request, PATIENCE, |mut client, request| async move {
                    client.assign(request).await
                });
                Ok(assigned.await.map_err(|status| remote.failed(&status))?.task)
            }
        }
    }

    /// How an assignment stands, as soon as it is not `known` any more. `None`: nobody knows it.
    ///
    /// # Errors
    /// Where the server is gone.
    pub async fn watch(&self, task: &str, known: Standing) -> Result<Option<Standing>, Failure> {
        let remote = match self {
            Proctor::Here(evaluation) => return Ok(evaluation.watch(task, Some(known)).await),
            Proctor::There(remote) => remote,
        };
        loop {
            let wait_ms = u32::try_from(WATCH.as_millis()).unwrap_or(u32::MAX);
            let task = task.to_string();
            let request = pb::WatchRequest { task, known: to_wire(Some(known)).into(), wait_ms };
            let asked = remote.ask(request, WATCH + PATIENCE, |mut client, request| async move {
                client.watch(request).await
            });
            let standing = match asked.await {
                Ok(answer) => from_wire(answer.standing()),
                Err(status) if status.code() == Code::NotFound => None,
                Err(status) => return Err(remote.failed(&status)),
            };
            if standing != Some(known) {
                return Ok(standing);
            }
        }
    }

    /// Ends an assignment; what it came to. `None`: nobody knows it.
    ///
    /// # Errors
    /// Where the server is gone.
    pub async fn finish(&self, task: &str) -> Result<Option<Ended>, Failure> {
        match self {
            Proctor::Here(evaluation) => Ok(evaluation.finish(task).await),
            Proctor::There(remote) => {
                let request = pb::FinishRequest { task: task.to_string() };
                let asked = remote.ask(request, PATIENCE * 6, |mut client, request| async move {
                    client.finish(request).await
                });
                match asked.await {
                    Ok(answer) => {
                        let ended = serde_json::from_slice(&answer.outcome_json);
                        ended.map(Some).map_err(|error| {
                            Failure::failed(format!(
                                "{} answers with no outcome ({error}): run the release that it is",
                                remote.address
                            ))
                        })
                    }
                    Err(status) if status.code() == Code::NotFound => Ok(None),
                    Err(status) => Err(remote.failed(&status)),
                }
            }
        }
    }

    /// Forgets an assignment.
    pub async fn discard(&self, task: &str) {
        match self {
            Proctor::Here(evaluation) => evaluation.discard(task).await,
            Proctor::There(remote) => {
                let request = pb::DiscardRequest { task: task.to_string() };
                let asked = remote.ask(request, PATIENCE, |mut client, request| async move {
                    client.discard(request).await
                });
                // It only takes memory there.
                if let Err(status) = asked.await {
                    tracing::debug!(%status, "not discarded");
                }
            }
        }
    }
}

/// The control port of a server elsewhere.
#[derive(Clone, Debug)]
pub struct Remote {
    address: String,
    client: EvaluationsClient<Channel>,
}

impl Remote {
    /// At this address; has to be called in a runtime.
    ///
    /// # Errors
    /// Where it is none, or the token of the environment is none.
    pub fn new(address: &str) -> Result<Remote, Failure> {
        let wrong = |error| Failure::usage(format!("--url: {error}"));
        let channel = Channel::tcp(address.trim_end_matches('/')).map_err(wrong)?;
        let channel = channel.with_token(token()?.as_ref().map(Token::header));
        Ok(Remote { address: address.into(), client: EvaluationsClient::new(channel) })
    }

    async fn describe(&self) -> Result<Described, Failure> {
        let mut client = self.client.clone();
        let asked = tokio::time::timeout(PATIENCE, client.describe(pb::DescribeRequest {})).await;
        let late = || Status::deadline_exceeded(format!("nothing within {} s", PATIENCE.as_secs()));
        let answer = asked.unwrap_or_else(|_| Err(late()));
        let answer = answer.map_err(|status| self.failed(&status))?.into_inner();
        let subjects = answer.scenarios.into_iter().map(|scenario| {
            let pb::Scenario { name, title, healthy, hash, steps } = scenario;
            Subject { name, title, healthy, hash, steps }
        });
        Ok(Described {
            secret: answer.secret,
            world_revision: answer.world_revision,
            subjects: subjects.collect(),
        })
    }

    /// Asks until there is an answer; every call may be repeated.
    async fn ask<Q, A, C, F>(&self, request: Q, patience: Duration, call: C) -> Result<A, Status>
    where
        Q: Clone,
        C: Fn(EvaluationsClient<Channel>, Q) -> F,
        F: Future<Output = Result<tonic::Response<A>, Status>>,
    {
        let (mut pause, mut attempt) = (BACKOFF.0, 1);
        loop {
            let asked = call(self.client.clone(), request.clone());
            let answer = tokio::time::timeout(patience, asked).await;
            let answer = answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")));
            match answer {
                Ok(answer) => return Ok(answer.into_inner()),
                Err(status) if attempt >= ATTEMPTS || !mesh::status::is_transient(&status) => {
                    return Err(status);
                }
                Err(status) => tracing::warn!(%status, "the server is asked again"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(BACKOFF.1);
            attempt += 1;
        }
    }

    fn failed(&self, status: &Status) -> Failure {
        let address = &self.address;
        match status.code() {
            Code::Unimplemented => Failure::failed(format!(
                "{address} does not evaluate: it has to be the control port of `mayday serve \
                 --evaluate`"
            )),
            Code::Unauthenticated => Failure::failed(format!(
                "{address} refuses ({}): set {} as there",
                status.message(),
                chassis::token::VARIABLE
            )),
            Code::InvalidArgument => Failure::usage(status.message()),
            _ => Failure::failed(format!(
                "{address} does not answer ({}): is it the control port of `mayday serve \
                 --evaluate`?",
                mesh::status::describe(status)
            )),
        }
    }
}
