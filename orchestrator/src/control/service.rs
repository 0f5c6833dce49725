//! The gRPC service of the control port over the sessions. As with steps, a caller that goes away
//! does not leave anything half done.

use super::aim::{self, What};
use super::convert;
use super::past::past;
use crate::look::{self, Until};
use crate::service::{episode, status, summary, whole};
use crate::sessions::{Listed, SessionError, Sessions, Steered};
use episode::{ControlOrder, MICRO};
use model::EpisodeId;
use proto::orchestrator::v1 as pb;
use proto::orchestrator::v1::control_server::Control;
use record::{Filter, Record};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

/// Records in a list where the caller does not say how many.
const LISTED: u32 = 100;
/// Episodes that are graded in one call.
const GRADED_MAX: usize = 64;

/// The service.
#[derive(Clone, Debug)]
pub struct ControlService {
    sessions: Arc<Sessions>,
    stop: CancellationToken,
}

impl ControlService {
    /// Over these sessions; `stop` ends the process in order.
    pub fn new(sessions: Arc<Sessions>, stop: CancellationToken) -> ControlService {
        ControlService { sessions, stop }
    }
}

type Reply<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl Control for ControlService {
    async fn catalogue(&self, _: Request<pb::CatalogueRequest>) -> Reply<pb::CatalogueResponse> {
        Ok(Response::new(catalogue()))
    }

    async fn show(&self, request: Request<pb::ShowRequest>) -> Reply<pb::ShowResponse> {
        let (sessions, id) = (self.sessions.clone(), episode(&request.get_ref().episode)?);
        whole(async move { Box::pin(show(&sessions, id)).await }).await.map(Response::new)
    }

    async fn inspect(&self, request: Request<pb::InspectRequest>) -> Reply<pb::InspectResponse> {
        let (sessions, request) = (self.sessions.clone(), request.into_inner());
        let id = episode(&request.episode)?;
        let inspected =
            whole(async move { Box::pin(inspect(&sessions, id, request.components)).await });
        inspected.await.map(Response::new)
    }

    async fn inject(&self, request: Request<pb::InjectRequest>) -> Reply<pb::InjectResponse> {
        let (sessions, request) = (self.sessions.clone(), request.into_inner());
        let id = episode(&request.episode)?;
        let injected = whole(async move { Box::pin(inject(&sessions, id, request)).await });
        injected.await.map(Response::new)
    }

    async fn clear(&self, request: Request<pb::ClearRequest>) -> Reply<pb::ClearResponse> {
        let (sessions, request) = (self.sessions.clone(), request.into_inner());
        let id = episode(&request.episode)?;
        let cleared = whole(async move { Box::pin(clear(&sessions, id, request.ids)).await });
        cleared.await.map(Response::new)
    }

    async fn advance(&self, request: Request<pb::AdvanceRequest>) -> Reply<pb::AdvanceResponse> {
        let (sessions, request) = (self.sessions.clone(), request.into_inner());
        let id = episode(&request.episode)?;
        let advanced = async move { Box::pin(advance(&sessions, id, request.ticks)).await };
        let Steered { tick, impact, observation } = whole(advanced).await?;
        Ok(Response::new(pb::AdvanceResponse {
            tick: tick.0,
            impact: impact as f64 / MICRO,
            observation: convert::to_struct(&observation),
        }))
    }

    async fn fork(&self, request: Request<pb::ForkRequest>) -> Reply<pb::ForkResponse> {
        let (sessions, request) = (self.sessions.clone(), request.into_inner());
        let id = episode(&request.episode)?;
        let forked = whole(async move { Box::pin(fork(&sessions, id, request)).await });
        forked.await.map(Response::new)
    }

    async fn grade(&self, request: Request<pb::GradeRequest>) -> Reply<pb::GradeResponse> {
        let (sessions, request) = (self.sessions.clone(), request.into_inner());
        let many = request.episodes.len();
        if many == 0 || many > GRADED_MAX {
            let sentence = format!("`episodes`: {many} are named; expected 1 to {GRADED_MAX}");
            return Err(Status::invalid_argument(sentence));
        }
        let ids = request.episodes.iter().map(|text| episode(text));
        let ids = ids.collect::<Result<Vec<_>, _>>()?;
        let graded = async move {
            let mut verdicts = Vec::new();
            for id in ids {
                verdicts.push(Box::pin(verdict(&sessions, id)).await?);
            }
            Ok(pb::GradeResponse { verdicts })
        };
        whole(graded).await.map(Response::new)
    }

    async fn abandon(&self, request: Request<pb::AbandonRequest>) -> Reply<pb::AbandonResponse> {
        let (sessions, id) = (self.sessions.clone(), episode(&request.get_ref().episode)?);
        let abandoned = async move {
            Box::pin(sessions.hand_off(id)).await?;
            Box::pin(verdict(&sessions, id)).await
        };
        let verdict = Some(whole(abandoned).await?);
        Ok(Response::new(pb::AbandonResponse { verdict }))
    }

    async fn list_records(
        &self,
        request: Request<pb::ListRecordsRequest>,
    ) -> Reply<pb::ListRecordsResponse> {
        let request = request.into_inner();
        let newest = if request.newest == 0 { LISTED } else { request.newest };
        let filter = Filter {
            scenario_name: (!request.scenario.is_empty()).then_some(request.scenario),
            ended: request.open.then_some(false),
            newest: Some(newest),
            ..Filter::default()
        };
        let records = self.sessions.records(filter).await.map_err(|error| status(&error))?;
        let listed = |one| summary(Listed { summary: one, live: false, world: None });
        let records = records.into_iter().map(listed).collect();
        Ok(Response::new(pb::ListRecordsResponse { records }))
    }

    async fn get_record(
        &self,
        request: Request<pb::GetRecordRequest>,
    ) -> Reply<pb::GetRecordResponse> {
        let (sessions, id) = (self.sessions.clone(), episode(&request.get_ref().episode)?);
        let record = whole(async move { Box::pin(sessions.record(id)).await }).await?;
        Ok(Response::new(pb::GetRecordResponse { jsonl: record.to_jsonl() }))
    }

    async fn drain(&self, request: Request<pb::DrainRequest>) -> Reply<pb::DrainResponse> {
        let pb::DrainRequest { stop, resume } = *request.get_ref();
        if stop && resume {
            let sentence = "`stop` and `resume` contradict each other: set one of them";
            return Err(Status::invalid_argument(sentence));
        }
        self.sessions.drain(!resume);
        tracing::info!(draining = !resume, stop, "told by the control port");
        if stop {
            self.stop.cancel();
        }
        let live = u32::try_from(self.sessions.live()).unwrap_or(u32::MAX);
        Ok(Response::new(pb::DrainResponse { draining: !resume, live }))
    }
}

fn catalogue() -> pb::CatalogueResponse {
    let faults = fault::all().iter().map(|fault| pb::Fault {
        name: fault.name.into(),
        description: fault.doc.into(),
        targets: fault.targets.describe(),
        parameters: convert::parameters(fault.params),
        symptoms: fault.symptoms.iter().map(ToString::to_string).collect(),
    });
    let lever = |lever: &machine::LeverSpec| pb::Lever {
        name: lever.name.into(),
        description: lever.doc.into(),
        parameters: convert::parameters(lever.args),
    };
    let kinds = fleet::kinds().iter().map(|kind| pb::Kind {
        name: kind.name().into(),
        levers: kind.levers().iter().map(lever).collect(),
    });
    pb::CatalogueResponse { faults: faults.collect(), kinds: kinds.collect() }
}

async fn show(sessions: &Sessions, id: EpisodeId) -> Result<pb::ShowResponse, SessionError> {
    let task = |scenario: &str| sessions.task_of(scenario).unwrap_or_default();
    sessions
        .look(id, |live| {
            let (episode, scenario) = (&live.episode, live.episode.scenario());
            let (injected, _) = aim::injected(episode.record());
            let timing = scenario.timing;
            pb::ShowResponse {
                episode: id.to_string(),
                scenario: scenario.name.clone(),
                title: scenario.title.clone(),
                seed: episode.record().header.seed,
                task: task(&scenario.name),
                tick: episode.tick().0,
                horizon: timing.horizon.0,
                steps: episode.steps(),
                step_limit: timing.step_limit,
                end: episode.ended().map_or("", |end| end.word()).into(),
                impact: episode.impact() as f64 / MICRO,
                observation: convert::to_struct(&live.observe()),
                injected: injected.iter().map(|p| convert::pull(p, &scenario.topology)).collect(),
            }
        })
        .await
}

async fn inspect(
    sessions: &Sessions,
    id: EpisodeId,
    wanted: Vec<String>,
) -> Result<pb::InspectResponse, SessionError> {
    let mut response = pb::InspectResponse::default();
    let mut scenario = None;
    let choose = |live: &crate::live::Live| {
        let episode = &live.episode;
        let topology = &episode.scenario().topology;
        response.tick = episode.tick().0;
        response.entries = entries(episode.record(), episode.scenario(), episode.entry_pulls());
        let chosen = if wanted.is_empty() {
            topology.ids().collect()
        } else {
            let component = |name: &String| match aim::target(topology, name)? {
                fault::Target::Component(component) => Ok(component),
                fault::Target::Edge(_) => Err(SessionError::Wrong(format!(
                    "`{name}` is an edge: its levers are its caller's; name that component"
                ))),
            };
            wanted.iter().map(component).collect::<Result<Vec<_>, _>>()?
        };
        scenario = Some(episode.scenario().clone());
        Ok(chosen)
    };
    let inspections = sessions.inspect(id, choose).await?;
    if let Some(scenario) = scenario {
        let component = |one| convert::component(one, &scenario.topology);
        response.components = inspections.iter().map(component).collect();
    }
    Ok(response)
}

/// The pulls of these numbers, whoever made them.
fn entries(
    record: &Record,
    scenario: &scenario::Scenario,
    ids: impl Iterator<Item = u64>,
) -> Vec<pb::Pull> {
    let (injected, _) = aim::injected(record);
    let events = scenario.timeline.iter().chain(&scenario.recheck);
    let mut known: Vec<_> = injected;
    for event in events {
        if let scenario::resolved::Happening::Pull { pulls, .. } = &event.what {
            known.extend(pulls.iter().cloned());
        }
    }
    let named = ids.filter_map(|id| known.iter().find(|pull| pull.id == id));
    named.map(|pull| convert::pull(pull, &scenario.topology)).collect()
}

async fn inject(
    sessions: &Sessions,
    id: EpisodeId,
    request: pb::InjectRequest,
) -> Result<pb::InjectResponse, SessionError> {
    let what = match request.what {
        Some(pb::inject_request::What::Fault(name)) => What::Fault(name),
        Some(pb::inject_request::What::Lever(name)) => What::Lever(name),
        None => {
            let sentence = "name a `fault` of the catalogue or a `lever`: Catalogue lists them";
            return Err(SessionError::Wrong(sentence.into()));
        }
    };
    let params = convert::params(request.parameters).map_err(SessionError::Wrong)?;
    let mut pulled = Vec::new();
    let steered = sessions
        .steer(id, |episode| {
            let topology = &episode.scenario().topology;
            let target = aim::target(topology, &request.on)?;
            let (_, next) = aim::injected(episode.record());
            let pulls = aim::pulls(&what, target, &params, topology, next)?;
            pulled = pulls.iter().map(|pull| convert::pull(pull, topology)).collect();
            Ok(vec![ControlOrder::Inject(pulls)])
        })
        .await?;
    Ok(pb::InjectResponse { tick: steered.tick.0, pulled })
}

async fn clear(
    sessions: &Sessions,
    id: EpisodeId,
    ids: Vec<u64>,
) -> Result<pb::ClearResponse, SessionError> {
    let mut cleared = Vec::new();
    let steered = sessions
        .steer(id, |episode| {
            let (mut held, _) = aim::injected(episode.record());
            let numbers: Vec<_> = held.iter().map(|pull| pull.id.to_string()).collect();
            if let Some(unknown) = ids.iter().find(|id| held.iter().all(|pull| pull.id != **id)) {
                let known = if numbers.is_empty() { "none".into() } else { numbers.join(", ") };
                return Err(SessionError::Wrong(format!(
                    "the control port holds no pull {unknown}; expected one of {known}"
                )));
            }
            held.retain(|pull| ids.is_empty() || ids.contains(&pull.id));
            let topology = &episode.scenario().topology;
            cleared = held.iter().map(|pull| convert::pull(pull, topology)).collect();
            let order =
                |pull: &model::LeverPull| ControlOrder::Clear { target: pull.target, id: pull.id };
            Ok(held.iter().map(order).collect())
        })
        .await?;
    Ok(pb::ClearResponse { tick: steered.tick.0, cleared })
}

/// The agent's next step ends the episode, never the control port under its hands.
async fn advance(sessions: &Sessions, id: EpisodeId, ticks: u32) -> Result<Steered, SessionError> {
    sessions
        .steer(id, |episode| {
            let left = episode.scenario().timing.horizon.0 - episode.tick().0 - 1;
            if ticks == 0 || i64::from(ticks) > left {
                let allowed = if left > 0 { format!("1 to {left}") } else { "none".into() };
                return Err(SessionError::Wrong(format!(
                    "`ticks` is {ticks}; expected {allowed}, so that the agent's phase does not \
                     end by it (to end the episode, abandon it)"
                )));
            }
            Ok(vec![ControlOrder::Advance { ticks }])
        })
        .await
}

async fn fork(
    sessions: &Sessions,
    id: EpisodeId,
    request: pb::ForkRequest,
) -> Result<pb::ForkResponse, SessionError> {
    let record = sessions.record(id).await?;
    let now = sessions.look(id, |live| (live.episode.tick(), live.episode.steps())).await?;
    let (past, wait) = past(&record, now, request.at)?;
    let fork = Box::pin(sessions.plant(&past)).await?;
    let grown = Box::pin(grow(sessions, fork, wait, request.actions)).await;
    if grown.is_err() {
        // An answer that names no episode leaves none behind.
        sessions.uproot(fork).await;
    }
    grown
}

async fn grow(
    sessions: &Sessions,
    fork: EpisodeId,
    wait: Option<u32>,
    actions: Vec<prost_types::Struct>,
) -> Result<pb::ForkResponse, SessionError> {
    if let Some(ticks) = wait {
        Box::pin(sessions.steer(fork, |_| Ok(vec![ControlOrder::Advance { ticks }]))).await?;
    }
    for (at, action) in actions.into_iter().enumerate() {
        let text = serde_json::Value::Object(convert::object(action)).to_string();
        Box::pin(sessions.step(fork, None, text.as_bytes())).await.map_err(
            |error| match error {
                SessionError::Wrong(why) => SessionError::Wrong(format!("`actions[{at}]`: {why}")),
                SessionError::NotNow(why) => {
                    SessionError::NotNow(format!("`actions[{at}]`: {why}"))
                }
                other => other,
            },
        )?;
    }
    sessions
        .look(fork, |live| pb::ForkResponse {
            episode: fork.to_string(),
            tick: live.episode.tick().0,
            steps: live.episode.steps(),
            end: live.episode.ended().map_or("", |end| end.word()).into(),
            observation: convert::to_struct(&live.observe()),
        })
        .await
}

/// What an episode comes to; one that is not over as if it were left now, which changes nothing in
/// it.
async fn verdict(sessions: &Sessions, id: EpisodeId) -> Result<pb::Verdict, SessionError> {
    let see = |live: &crate::live::Live| {
        (live.episode.ended().is_some(), live.episode.tick().0, live.episode.impact())
    };
    let (over, tick, impact) = sessions.look(id, see).await?;
    let grade = if over {
        Box::pin(sessions.score(id)).await?
    } else {
        let record = sessions.record(id).await?;
        let failed = |error: String| {
            tracing::error!(error, "an episode cannot be graded");
            SessionError::Failed { advice: "do the same again in a moment", cause: error }
        };
        let played = Box::pin(look::play(&record, Until::default(), &mut |_| {})).await;
        let played = played.map_err(|error| failed(error.to_string()))?;
        Box::pin(look::grade(&played)).await.map_err(|error| failed(error.to_string()))?
    };
    Ok(convert::verdict(id.to_string(), over, tick, impact, &grade))
}
