//! The grader as a gRPC service. It trusts no score: of an episode it takes the record, the
//! engine's state, and what the components say when it asks them itself.

use crate::local::LocalJudge;
use crate::wire::{MESSAGE_BYTES_MAX, record_of};
use chassis::Token;
use episode::{AllKinds, Episode, EpisodeError, Handover, Judge, scenario_of};
use fleet::{EmbeddedFleet, Fleet, FleetError, Links, RemoteConfig, RemoteFleet, Savepoint};
use model::Inspection;
use proto::grader::v1 as pb;
use proto::grader::v1::grader_server::{Grader, GraderServer};
use record::Record;
use std::collections::BTreeMap;
use std::sync::Arc;
use tonic::{Request, Response, Status};

/// Grades for others.
#[derive(Debug)]
pub struct GraderService {
    kinds: AllKinds,
    judge: LocalJudge,
    /// What components are shown.
    token: Option<Token>,
}

impl GraderService {
    /// A grader that knows these kinds.
    pub fn new(kinds: AllKinds, token: Option<Token>) -> GraderService {
        GraderService { kinds, judge: LocalJudge::new(kinds), token }
    }

    /// As a server of tonic.
    pub fn server(self) -> GraderServer<GraderService> {
        GraderServer::new(self)
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX)
    }

    /// The states of all components and the truth about them: as they were sent, or as the
    /// components say themselves.
    async fn gather(
        &self,
        request: &pb::GradeRequest,
        record: &Record,
    ) -> Result<(Savepoint, Vec<Inspection>), Gathering> {
        let seqs: BTreeMap<_, _> = request.seqs.clone().into_iter().collect();
        if request.components.is_empty() {
            let inspections = serde_json::from_slice(&request.inspections_json)
                .map_err(|error| Gathering::Wrong(format!("inspections: {error}")))?;
            return Ok((Savepoint { seqs, snapshots: request.snapshots.clone() }, inspections));
        }
        let wrong = |error: EpisodeError| Gathering::Wrong(error.to_string());
        let scenario = Arc::new(scenario_of(record).map_err(wrong)?);
        let (kinds, header) = (self.kinds, &record.header);
        let nobody = EmbeddedFleet::new(kinds);
        let (id, seed) = (header.episode, header.seed);
        let episode = Episode::prepare(nobody, kinds, scenario, id, seed, 0).map_err(wrong)?;
        let addresses = request.components.clone().into_iter().collect();
        let links = Links::tcp(&addresses, self.token.as_ref())
            .map_err(|error| Gathering::Wrong(error.to_string()))?;
        let config = RemoteConfig::default();
        let fleet = RemoteFleet::attach(links, config, &episode.roster(), &seqs)?;
        let savepoint = fleet.save().await?;
        let mut inspections = Vec::new();
        for id in episode.scenario().topology.ids() {
            inspections.push(fleet.inspect(id).await?);
        }
        Ok((savepoint, inspections))
    }
}

/// Why states could not be gathered.
enum Gathering {
    /// The request is wrong.
    Wrong(String),
    /// A component does not answer or stands elsewhere; the record still tells everything.
    Failed(FleetError),
}

impl From<FleetError> for Gathering {
    fn from(error: FleetError) -> Gathering {
        Gathering::Failed(error)
    }
}

#[tonic::async_trait]
impl Grader for GraderService {
    async fn baselines(
        &self,
        request: Request<pb::BaselinesRequest>,
    ) -> Result<Response<pb::BaselinesResponse>, Status> {
        let pb::BaselinesRequest { scenario_json, seed, inputs_json } = request.into_inner();
        let scenario = String::from_utf8(scenario_json)
            .map_err(|error| Status::invalid_argument(format!("scenario: {error}")))?;
        let inputs = match inputs_json.is_empty() {
            true => Vec::new(),
            false => serde_json::from_slice(&inputs_json)
                .map_err(|error| Status::invalid_argument(format!("inputs: {error}")))?,
        };
        let record = record_of(scenario, seed, inputs);
        let baselines = self.judge.known(&record).await.map_err(|e| status(&e))?;
        Ok(Response::new(pb::BaselinesResponse { baselines_json: json(&*baselines)? }))
    }

    async fn grade(
        &self,
        request: Request<pb::GradeRequest>,
    ) -> Result<Response<pb::GradeResponse>, Status> {
        let request = request.into_inner();
        let wrong = |error: &dyn std::fmt::Display| Status::invalid_argument(error.to_string());
        let record = Record::from_jsonl(&request.record_jsonl).map_err(|e| wrong(&e))?;
        record.check().map_err(|error| Status::failed_precondition(error.to_string()))?;
        let engine = machine::decode("engine", &request.engine).map_err(|e| wrong(&e))?;
        let (savepoint, inspections) = match self.gather(&request, &record).await {
            Ok(gathered) => gathered,
            Err(Gathering::Wrong(sentence)) => return Err(Status::invalid_argument(sentence)),
            Err(Gathering::Failed(error)) => {
                let episode = record.header.episode;
                tracing::warn!(%episode, %error, "components cannot be asked: playing the record");
                (Savepoint::default(), Vec::new())
            }
        };
        let handover = Handover { record, engine, savepoint, inspections };
        let grade = self.judge.grade(&handover).await.map_err(|e| status(&e))?;
        Ok(Response::new(pb::GradeResponse { grade_json: json(&grade)? }))
    }
}

fn status(error: &EpisodeError) -> Status {
    let sentence = error.to_string();
    match error {
        EpisodeError::Fleet(_) => Status::unavailable(sentence),
        EpisodeError::Unfit(_) | EpisodeError::Diverged { .. } => {
            Status::failed_precondition(sentence)
        }
        _ => Status::internal(sentence),
    }
}

fn json<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, Status> {
    serde_json::to_vec(value).map_err(|error| Status::internal(error.to_string()))
}
