//! Evaluations at the control port.

use super::evaluation::{AssignmentKey, Evaluation};
use super::office::Standing;
use proto::evaluation::v1 as pb;
use proto::evaluation::v1::evaluations_server::Evaluations;
use std::time::Duration;
use tonic::{Request, Response, Status};

/// Nobody waits longer for an answer.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// The service.
#[derive(Clone, Debug)]
pub struct EvaluationsService {
    evaluation: Evaluation,
}

impl EvaluationsService {
    /// Over this evaluation.
    pub fn new(evaluation: Evaluation) -> EvaluationsService {
        EvaluationsService { evaluation }
    }
}

/// On the wire.
pub fn to_wire(standing: Option<Standing>) -> pb::Standing {
    match standing {
        None => pb::Standing::Unspecified,
        Some(Standing::Open) => pb::Standing::Open,
        Some(Standing::Playing) => pb::Standing::Playing,
        Some(Standing::Over) => pb::Standing::Over,
    }
}

/// From the wire.
pub fn from_wire(standing: pb::Standing) -> Option<Standing> {
    match standing {
        pb::Standing::Unspecified => None,
        pb::Standing::Open => Some(Standing::Open),
        pb::Standing::Playing => Some(Standing::Playing),
        pb::Standing::Over => Some(Standing::Over),
    }
}

fn unknown() -> Status {
    Status::not_found("this assignment was not given out here")
}

type Reply<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl Evaluations for EvaluationsService {
    async fn describe(&self, _: Request<pb::DescribeRequest>) -> Reply<pb::DescribeResponse> {
        let mut scenarios = Vec::new();
        for scenario in self.evaluation.scenarios() {
            let hash = scenario.hash().map_err(|error| Status::internal(error.to_string()))?;
            scenarios.push(pb::Scenario {
                name: scenario.name.clone(),
                title: scenario.title.clone(),
                healthy: scenario.healthy,
                hash: hash.to_string(),
                steps: scenario.timing.step_limit,
            });
        }
        Ok(Response::new(pb::DescribeResponse {
            version: env!("CARGO_PKG_VERSION").into(),
            world_revision: record::WORLD_REVISION,
            secret: self.evaluation.secret().fingerprint(),
            scenarios,
        }))
    }

    async fn assign(&self, request: Request<pb::AssignRequest>) -> Reply<pb::AssignResponse> {
        let request = request.into_inner();
        let pb::AssignRequest { evaluation, scenario, seed, repeat, run, secret } = request;
        let key = AssignmentKey { evaluation, scenario, seed, repeat, run, secret };
        let task = self.evaluation.assign(&key);
        let task = task.map_err(|error| Status::invalid_argument(error.to_string()))?;
        Ok(Response::new(pb::AssignResponse { task }))
    }

    async fn watch(&self, request: Request<pb::WatchRequest>) -> Reply<pb::WatchResponse> {
        let request = request.into_inner();
        let known = from_wire(request.known());
        let wait = Duration::from_millis(request.wait_ms.into()).min(WAIT_MAX);
        let standing = self.evaluation.watch(&request.task, known);
        let standing = tokio::time::timeout(wait, standing).await.unwrap_or(known);
        let standing = standing.ok_or_else(unknown)?;
        Ok(Response::new(pb::WatchResponse { standing: to_wire(Some(standing)).into() }))
    }

    async fn finish(&self, request: Request<pb::FinishRequest>) -> Reply<pb::FinishResponse> {
        let (evaluation, task) = (self.evaluation.clone(), request.into_inner().task);
        let finished = tokio::spawn(async move { evaluation.finish(&task).await }).await;
        let ended = finished.map_err(|_| Status::internal("a defect ended the call"))?;
        let ended = ended.ok_or_else(unknown)?;
        let outcome_json = serde_json::to_vec(&ended)
            .map_err(|_| Status::internal("the outcome cannot be written"))?;
        Ok(Response::new(pb::FinishResponse { outcome_json }))
    }

    async fn discard(&self, request: Request<pb::DiscardRequest>) -> Reply<pb::DiscardResponse> {
        self.evaluation.discard(&request.into_inner().task).await;
        Ok(Response::new(pb::DiscardResponse {}))
    }
}
