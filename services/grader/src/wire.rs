//! The grader elsewhere: what is sent to it, and the judge that asks it.

use crate::cache::{Cache, Key};
use chassis::Token;
use episode::{Baselines, EpisodeError, Grade, Handover, Judge};
use model::{EpisodeId, Tick};
use proto::grader::v1 as pb;
use proto::grader::v1::grader_client::GraderClient;
use record::{Actor, Entry, Header, Input, Record};
use scenario::Scenario;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

/// Snapshots of long episodes are the largest messages.
pub(crate) const MESSAGE_BYTES_MAX: usize = 256 << 20;
/// Longest wait for one answer: a grade plays a whole tail.
const ATTEMPT: Duration = Duration::from_secs(60);
/// Attempts until a grader that is being started again should be there.
const ATTEMPTS_MAX: u32 = 6;
/// Wait before the second attempt; doubles with each.
const BACKOFF: Duration = Duration::from_millis(50);
/// Baselines kept at most.
const CACHED_MAX: usize = 1024;

/// A control input as it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ControlInput {
    tick: i64,
    body: String,
}

/// The control inputs of a record.
pub(crate) fn controls_out(record: &Record) -> Vec<ControlInput> {
    let control = record.inputs().filter(|input| input.actor == Actor::Control);
    control.map(|input| ControlInput { tick: input.tick.0, body: input.body.clone() }).collect()
}

/// A record with this scenario and seed in which only these control inputs were made.
pub(crate) fn record_of(scenario: String, seed: u64, inputs: Vec<ControlInput>) -> Record {
    let header = Header::new(EpisodeId(0), seed, "", scenario);
    let entry = |(at, input): (usize, ControlInput)| {
        let (seq, tick, actor) = (at as u64 + 1, Tick(input.tick), Actor::Control);
        Entry::Input(Input { seq, tick, actor, body: input.body })
    };
    Record { header, entries: inputs.into_iter().enumerate().map(entry).collect() }
}

/// A hand-over as it is sent. Where `components` are named the grader asks them itself, so their
/// states stay where they are.
pub(crate) fn handover_out(
    handover: &Handover,
    components: &BTreeMap<String, String>,
) -> Result<pb::GradeRequest, EpisodeError> {
    let unfit = |error: serde_json::Error| EpisodeError::Unfit(error.to_string());
    let mut request = pb::GradeRequest {
        record_jsonl: handover.record.to_jsonl().into_bytes(),
        engine: machine::encode("engine", &handover.engine)?,
        seqs: handover.savepoint.seqs.clone().into_iter().collect(),
        components: components.clone().into_iter().collect(),
        snapshots: Vec::new(),
        inspections_json: Vec::new(),
    };
    if components.is_empty() {
        request.snapshots.clone_from(&handover.savepoint.snapshots);
        request.inspections_json = serde_json::to_vec(&handover.inspections).map_err(unfit)?;
    }
    Ok(request)
}

/// Shows the token in every call.
#[derive(Clone, Debug)]
struct Shown(Option<MetadataValue<Ascii>>);

impl Interceptor for Shown {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert(chassis::token::METADATA, token.clone());
        }
        trail::carry(&mut request);
        Ok(request)
    }
}

/// Asks a grader process. Baselines are asked for once per scenario, seed and control inputs.
#[derive(Debug)]
pub struct RemoteJudge {
    address: String,
    client: GraderClient<InterceptedService<Channel, Shown>>,
    components: BTreeMap<String, String>,
    cache: Mutex<Cache>,
}

impl RemoteJudge {
    /// The grader at `address`, which reaches the components at `components`; empty: they are in
    /// this process, and their states are sent along. Connects when first asked; needs a tokio
    /// runtime.
    ///
    /// # Errors
    /// Where `address` is not one; `http://` may be left out.
    pub fn new(
        address: &str,
        token: Option<&Token>,
        components: BTreeMap<String, String>,
    ) -> Result<RemoteJudge, String> {
        let full = match address.contains("://") {
            true => address.to_string(),
            false => format!("http://{address}"),
        };
        let bad = || format!("{address:?} is not an address: expected http://host:port");
        let endpoint = Endpoint::from_shared(full).map_err(|_| bad())?;
        if endpoint.uri().authority().is_none() {
            return Err(bad());
        }
        let channel = endpoint.connect_timeout(Duration::from_secs(1)).connect_lazy();
        let shown = token.map(|t| MetadataValue::try_from(t.header().as_bytes())).transpose();
        let shown = Shown(shown.map_err(|error| error.to_string())?);
        let client = GraderClient::new(InterceptedService::new(channel, shown))
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        let cache = Mutex::new(Cache::new(CACHED_MAX));
        Ok(RemoteJudge { address: address.to_string(), client, components, cache })
    }

    /// Asks until there is an answer. Asking again is safe: a grader changes nothing.
    async fn persist<T, F>(&self, mut ask: impl FnMut() -> F) -> Result<T, EpisodeError>
    where
        F: Future<Output = Result<tonic::Response<T>, Status>>,
    {
        let (mut backoff, mut attempts) = (BACKOFF, 0);
        loop {
            attempts += 1;
            let why = match tokio::time::timeout(ATTEMPT, ask()).await {
                Ok(Ok(answer)) => return Ok(answer.into_inner()),
                Ok(Err(status)) if status.code() == Code::Unavailable => {
                    status.message().to_string()
                }
                Ok(Err(status)) => return Err(EpisodeError::Judge(status.message().to_string())),
                Err(_) => format!("nothing within {} s", ATTEMPT.as_secs()),
            };
            if attempts >= ATTEMPTS_MAX {
                let address = &self.address;
                return Err(EpisodeError::Judge(format!(
                    "{address} is silent after {attempts} attempts ({why}): see that it runs"
                )));
            }
            tokio::time::sleep(backoff).await;
            backoff *= 2;
        }
    }

    fn cached(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn answer<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, EpisodeError> {
    serde_json::from_slice(bytes)
        .map_err(|error| EpisodeError::Judge(format!("an answer of another release: {error}")))
}

impl Judge for RemoteJudge {
    async fn baselines(
        &self,
        _: &Scenario,
        record: &Record,
    ) -> Result<Arc<Baselines>, EpisodeError> {
        let inputs = serde_json::to_string(&controls_out(record))
            .map_err(|error| EpisodeError::Unfit(error.to_string()))?;
        let header = &record.header;
        let key = Key::new(&header.scenario, header.seed, &inputs);
        if let Some(known) = self.cached().get(&key) {
            return Ok(known);
        }
        let request = pb::BaselinesRequest {
            scenario_json: header.scenario.clone().into_bytes(),
            seed: header.seed,
            inputs_json: inputs.into_bytes(),
        };
        let asked = self.persist(|| {
            let (mut client, request) = (self.client.clone(), request.clone());
            async move { client.baselines(request).await }
        });
        let baselines: Arc<Baselines> = Arc::new(answer(&asked.await?.baselines_json)?);
        self.cached().put(key, baselines.clone());
        Ok(baselines)
    }

    async fn grade(&self, handover: &Handover) -> Result<Grade, EpisodeError> {
        let request = handover_out(handover, &self.components)?;
        let asked = self.persist(|| {
            let (mut client, request) = (self.client.clone(), request.clone());
            async move { client.grade(request).await }
        });
        answer(&asked.await?.grade_json)
    }
}
