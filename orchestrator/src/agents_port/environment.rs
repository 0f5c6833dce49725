//! The environment that agents play.

use super::{catalogue, observation, refusal};
use crate::ids;
use crate::sessions::{SessionError, Sessions, Stepped};
use episode::Observation;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::{Digester, EpisodeId};
use openenv::{Begun, Catalogue, End, Environment, Fields, Recalled, Refusal, Turn, Wish};
use parking_lot::Mutex;
use record::EndReason;
use scenario::Scenario;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Seeds that the agents' protocol has.
const SEED_MASK: u64 = i64::MAX as u64;

/// Episodes of the sessions, for agents. Worlds are computed in the runtime in which it was made,
/// whichever asks: the one that carries the agents' bytes answers pings meanwhile.
#[derive(Debug)]
pub struct Gym {
    worlds: Arc<Worlds>,
    computing: Handle,
}

#[derive(Debug)]
struct Worlds {
    sessions: Arc<Sessions>,
    catalogue: Catalogue,
    /// What is played where, to say what is wrong with an action.
    playing: Mutex<BTreeMap<EpisodeId, Arc<Scenario>>>,
}

impl Gym {
    /// Over these sessions; has to be called in the runtime that computes.
    pub fn new(sessions: Arc<Sessions>) -> Gym {
        let catalogue = catalogue(sessions.tasks().keys().cloned());
        let worlds = Arc::new(Worlds { sessions, catalogue, playing: Mutex::default() });
        Gym { worlds, computing: Handle::current() }
    }

    /// Computes, whether or not anybody waits for it.
    fn compute<T, W, F>(&self, work: W) -> BoxFuture<'static, Result<T, Refusal>>
    where
        T: Send + 'static,
        W: FnOnce(Arc<Worlds>) -> F,
        F: Future<Output = Result<T, Refusal>> + Send + 'static,
    {
        let computed = self.computing.spawn(work(self.worlds.clone()));
        let defect = |_| Err(Refusal::Failed("a defect of the simulator ended the call".into()));
        async move { computed.await.unwrap_or_else(defect) }.boxed()
    }
}

impl Gym {
    /// Nobody asks for an episode any more; `closed`: not elsewhere either.
    fn left(&self, episode: &str, closed: bool) -> BoxFuture<'static, ()> {
        let id = ids::parse(episode);
        let left = self.compute(move |worlds| async move {
            let Some(id) = id else { return Ok(()) };
            worlds.playing.lock().remove(&id);
            match closed {
                true => worlds.sessions.leave(id).await,
                false => drop(worlds.sessions.forget(id).await),
            }
            Ok(())
        });
        left.map(|_| ()).boxed()
    }
}

impl Worlds {
    /// The task that a seed means where none is named.
    fn task_of(&self, seed: u64) -> Option<&String> {
        let tasks = &self.catalogue.tasks;
        let mut digester = Digester::default();
        digester.bytes(b"task of seed");
        digester.word(seed);
        let at = digester.finish().0 % tasks.len().max(1) as u64;
        tasks.get(usize::try_from(at).ok()?)
    }

    async fn begun(&self, wish: Wish) -> Result<Begun, Refusal> {
        let seed = wish.seed.unwrap_or_else(|| chassis::incarnation::draw() & SEED_MASK);
        let task = match &wish.task {
            Some(task) => task,
            None => self
                .task_of(seed)
                .ok_or_else(|| Refusal::Failed("there are no tasks: see --library".into()))?,
        };
        let Some(scenario) = self.sessions.tasks().get(task) else {
            return Err(refusal::no_task(task, &self.catalogue.tasks));
        };
        let created = self.sessions.create_in(task, Some(seed), wish.session.clone()).await;
        let (id, first) = created.map_err(refusal::of)?;
        self.playing.lock().insert(id, scenario.clone());
        let seen = observation::seen(&first).map_err(Refusal::Failed)?;
        Ok(Begun { episode: id.to_string(), task: task.clone(), seen })
    }

    async fn recalled(&self, session: &str) -> Result<Option<Recalled>, Refusal> {
        let found = self.sessions.of_session(session).await.map_err(refusal::of)?;
        let Some((id, task)) = found else { return Ok(None) };
        let now = match self.sessions.observe(id).await {
            Err(SessionError::Unknown(_)) => return Ok(None),
            other => other.map_err(refusal::of)?,
        };
        if let Some(scenario) = self.sessions.tasks().get(&task) {
            self.playing.lock().insert(id, scenario.clone());
        }
        let seen = observation::seen(&now).map_err(Refusal::Failed)?;
        let begun = Begun { episode: id.to_string(), task, seen };
        Ok(Some(Recalled { begun, steps: now.step.into(), end: ended(&now) }))
    }

    async fn stepped(&self, episode: &str, action: Fields) -> Result<Turn, Refusal> {
        let id = parsed(episode)?;
        let text =
            serde_json::to_vec(&action).map_err(|error| Refusal::Failed(error.to_string()))?;
        let stepped = match self.sessions.step(id, None, &text).await {
            Ok(stepped) => stepped,
            Err(SessionError::Wrong(sentence)) => {
                let scenario = self.playing.lock().get(&id).cloned();
                return Err(refusal::of_action(&action, scenario.as_deref(), sentence));
            }
            Err(error @ SessionError::NotNow(_)) => {
                // Somebody else ended it: its agent gets the end as after one of its own.
                let now = self.sessions.observe(id).await.map_err(refusal::of)?;
                if now.done_reason.is_none() {
                    return Err(refusal::of(error));
                }
                Stepped { observation: now, reward: 0.0 }
            }
            Err(error) => return Err(refusal::of(error)),
        };
        let end = ended(&stepped.observation);
        let seen = observation::seen(&stepped.observation).map_err(Refusal::Failed)?;
        Ok(Turn { seen, reward: stepped.reward, end })
    }
}

/// Why it is over, as an observation says.
pub fn ended(observation: &Observation) -> Option<End> {
    let reason = observation.done_reason.clone()?;
    let truncated =
        [EndReason::Horizon, EndReason::StepLimit].iter().any(|limit| limit.word() == reason);
    Some(End { reason, truncated })
}

fn parsed(episode: &str) -> Result<EpisodeId, Refusal> {
    ids::parse(episode).ok_or_else(|| Refusal::Failed("the episode is gone: call reset".into()))
}

impl Environment for Gym {
    fn catalogue(&self) -> &Catalogue {
        &self.worlds.catalogue
    }

    fn begin(&self, wish: Wish) -> BoxFuture<'_, Result<Begun, Refusal>> {
        self.compute(|worlds| async move { worlds.begun(wish).await })
    }

    fn recall<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<Option<Recalled>, Refusal>> {
        let session = session.to_string();
        self.compute(|worlds| async move { worlds.recalled(&session).await })
    }

    fn step<'a>(
        &'a self,
        episode: &'a str,
        action: Fields,
    ) -> BoxFuture<'a, Result<Turn, Refusal>> {
        let episode = episode.to_string();
        self.compute(|worlds| async move { worlds.stepped(&episode, action).await })
    }

    fn forget<'a>(&'a self, episode: &'a str) -> BoxFuture<'a, ()> {
        self.left(episode, false)
    }

    fn close<'a>(&'a self, episode: &'a str) -> BoxFuture<'a, ()> {
        self.left(episode, true)
    }
}
