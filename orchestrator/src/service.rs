//! The gRPC service over the sessions. Every call that changes something runs in a task of its own:
//! a caller that goes away does not leave a step half done.

use crate::ids;
use crate::sessions::{Listed, SessionError, Sessions};
use model::EpisodeId;
use proto::orchestrator::v1 as pb;
use proto::orchestrator::v1::episodes_server::Episodes;
use std::future::Future;
use std::sync::Arc;
use tonic::{Request, Response, Status};
use tracing::Instrument;

/// Episodes in a list where the caller does not say how many.
const LISTED: u32 = 100;

/// The service.
#[derive(Clone, Debug)]
pub struct EpisodesService {
    sessions: Arc<Sessions>,
}

impl EpisodesService {
    /// Over these sessions.
    pub fn new(sessions: Arc<Sessions>) -> EpisodesService {
        EpisodesService { sessions }
    }
}

/// To the end, whether or not the caller waits for it.
pub(crate) async fn whole<T: Send + 'static>(
    work: impl Future<Output = Result<T, SessionError>> + Send + 'static,
) -> Result<T, Status> {
    let ended = tokio::spawn(work.in_current_span()).await;
    let defect = |_| Status::internal("a defect of the simulator ended the call");
    ended.map_err(defect)?.map_err(|error| status(&error))
}

pub(crate) fn status(error: &SessionError) -> Status {
    let sentence = error.to_string();
    match error {
        SessionError::Unknown(_) => Status::not_found(sentence),
        SessionError::Wrong(_) => Status::invalid_argument(sentence),
        SessionError::NotNow(_) => Status::failed_precondition(sentence),
        SessionError::Full(_) => Status::resource_exhausted(sentence),
        SessionError::Failed { .. } => Status::unavailable(sentence),
    }
}

pub(crate) fn episode(text: &str) -> Result<EpisodeId, Status> {
    ids::parse(text)
        .ok_or_else(|| Status::invalid_argument(format!("`{text}` is no name of an episode")))
}

/// One episode in a list.
pub(crate) fn summary(one: Listed) -> pb::Summary {
    pb::Summary {
        episode: one.summary.episode.to_string(),
        scenario: one.summary.scenario_name,
        seed: one.summary.seed,
        steps: one.summary.steps,
        live: one.live,
        end: one.summary.ended.map_or("", |end| end.word()).to_string(),
        score: one.summary.score,
        world: one.world.map(|world| world.to_string()).unwrap_or_default(),
    }
}

fn json<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, Status> {
    serde_json::to_vec(value).map_err(|_| Status::internal("the answer cannot be written"))
}

type Reply<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl Episodes for EpisodesService {
    async fn list_scenarios(
        &self,
        _: Request<pb::ListScenariosRequest>,
    ) -> Reply<pb::ListScenariosResponse> {
        let tasks = self.sessions.tasks().iter().map(|(task, scenario)| pb::Task {
            task: task.clone(),
            seconds: u32::try_from(scenario.timing.horizon.0).unwrap_or(u32::MAX),
            steps: scenario.timing.step_limit,
        });
        Ok(Response::new(pb::ListScenariosResponse { tasks: tasks.collect() }))
    }

    async fn create(&self, request: Request<pb::CreateRequest>) -> Reply<pb::CreateResponse> {
        let (sessions, request) = (self.sessions.clone(), request.into_inner());
        let created = async move { sessions.create(&request.task, request.seed).await };
        let (episode, observation) = whole(created).await?;
        let (episode, observation_json) = (episode.to_string(), json(&observation)?);
        Ok(Response::new(pb::CreateResponse { episode, observation_json }))
    }

    async fn observe(&self, request: Request<pb::ObserveRequest>) -> Reply<pb::ObserveResponse> {
        let (sessions, id) = (self.sessions.clone(), episode(&request.get_ref().episode)?);
        let observation = whole(async move { sessions.observe(id).await }).await?;
        Ok(Response::new(pb::ObserveResponse { observation_json: json(&observation)? }))
    }

    async fn step(&self, request: Request<pb::StepRequest>) -> Reply<pb::StepResponse> {
        let (sessions, request) = (self.sessions.clone(), request.into_inner());
        let id = episode(&request.episode)?;
        let step = async move { sessions.step(id, request.number, &request.action_json).await };
        let stepped = whole(step).await?;
        Ok(Response::new(pb::StepResponse {
            observation_json: json(&stepped.observation)?,
            reward: stepped.reward,
            done: stepped.observation.done,
        }))
    }

    async fn score(&self, request: Request<pb::ScoreRequest>) -> Reply<pb::ScoreResponse> {
        let (sessions, id) = (self.sessions.clone(), episode(&request.get_ref().episode)?);
        let grade = whole(async move { sessions.score(id).await }).await?;
        Ok(Response::new(pb::ScoreResponse {
            score: grade.score,
            terms_json: json(&grade.terms)?,
            impact: grade.impact,
            impact_noop: grade.impact_noop,
            impact_reference: grade.impact_reference,
        }))
    }

    async fn list(&self, request: Request<pb::ListRequest>) -> Reply<pb::ListResponse> {
        let newest = match request.get_ref().newest {
            0 => LISTED,
            newest => newest,
        };
        let listed = self.sessions.list(newest).await.map_err(|error| status(&error))?;
        let episodes = listed.into_iter().map(summary);
        Ok(Response::new(pb::ListResponse { episodes: episodes.collect() }))
    }

    async fn drop(&self, request: Request<pb::DropRequest>) -> Reply<pb::DropResponse> {
        let (sessions, id) = (self.sessions.clone(), episode(&request.get_ref().episode)?);
        let known = whole(async move { Ok(sessions.forget(id).await) }).await?;
        Ok(Response::new(pb::DropResponse { known }))
    }
}
