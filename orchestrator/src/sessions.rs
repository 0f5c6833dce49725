//! Live episodes, each behind a lock of its own; the table is locked only to look one up. A step is
//! answered after its entries are kept. An episode that is not in memory is played again from its
//! record when somebody asks for it: after a restart, and after a failure of a component.
//!
//! Whoever is asked for an episode plays it: other processes may share the store, and one that has
//! claimed an episode is its owner until the next one does. So what is answered from memory is
//! confirmed by the store first; a copy that has lost its owner is forgotten.

use crate::body::Source;
use crate::judge::AnyJudge;
use crate::keeping::Keeping;
use crate::live::Live;
use crate::play::RewardMode;
use action::Action;
use episode::{EpisodeError, Grade, Observation};
use model::EpisodeId;
use parking_lot::RwLock;
use record::{Filter, Record, RecordError, Summary, Write};
use scenario::Scenario;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Mutex, MutexGuard};

/// Why a session cannot do what was asked. Its sentences may be shown to an agent.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is no such task or episode.
    #[error("{0}")]
    Unknown(String),
    /// What was sent does not fit; nothing has happened.
    #[error("{0}")]
    Wrong(String),
    /// Not in this state of the episode; nothing has happened.
    #[error("{0}")]
    NotNow(String),
    /// No room for more episodes.
    #[error("{0} episodes are live already: drop some, or allow more with --max-episodes")]
    Full(usize),
    /// Something outside the simulation failed.
    #[error("the simulator failed; nothing is lost: {advice}")]
    Failed {
        /// What to do.
        advice: &'static str,
        /// For the operator's log.
        cause: String,
    },
}

const AGAIN: &str = "do the same again in a moment";
const ANEW: &str = "see the log of the orchestrator";

impl SessionError {
    fn failed(advice: &'static str, cause: impl ToString) -> SessionError {
        let cause = cause.to_string();
        tracing::error!(cause, "a session failed");
        SessionError::Failed { advice, cause }
    }
}

/// What a step is answered with.
#[derive(Clone, Debug, PartialEq)]
pub struct Stepped {
    /// What is seen after it.
    pub observation: Observation,
    /// What it paid.
    pub reward: f64,
}

/// One episode in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// What the record says.
    pub summary: Summary,
    /// It is in memory.
    pub live: bool,
    /// Digest of the world after the last step, where it is in memory and not busy.
    pub world: Option<model::Digest>,
}

/// An episode in the table.
#[derive(Debug)]
enum Seat {
    /// To be played again from the store.
    Stored,
    /// To be played again from here, after this epoch.
    Asleep(Box<Record>, u64),
    /// Playing.
    Live(Box<Live>),
}

/// How sessions are held.
#[derive(Debug)]
pub struct House {
    /// Tasks by opaque name.
    pub tasks: BTreeMap<String, Arc<Scenario>>,
    /// Where fleets come from.
    pub source: Source,
    /// Who grades.
    pub judge: AnyJudge,
    /// Where records go.
    pub store: Keeping,
    /// When rewards are paid.
    pub reward: RewardMode,
    /// Most episodes in memory.
    pub episodes_max: usize,
}

/// All live episodes.
#[derive(Debug)]
pub struct Sessions {
    house: House,
    table: RwLock<BTreeMap<EpisodeId, Arc<Mutex<Seat>>>>,
    tally: Tally,
    /// No new episodes begin.
    draining: AtomicBool,
}

impl Sessions {
    /// No episodes yet.
    pub fn new(house: House) -> Sessions {
        let (tally, draining) = (Tally::default(), AtomicBool::new(false));
        Sessions { house, table: RwLock::default(), tally, draining }
    }

    /// What they did so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Whether no new episodes begin.
    pub fn draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// From now on new episodes begin, or do not.
    pub fn drain(&self, draining: bool) {
        self.draining.store(draining, Ordering::Relaxed);
    }

    /// Whether an episode may begin.
    fn admit(&self) -> Result<(), SessionError> {
        if self.draining() {
            let sentence = "this server is being drained and begins no episodes: use another one";
            return Err(SessionError::NotNow(sentence.into()));
        }
        let held = self.table.read().len();
        if held >= self.house.episodes_max {
            return Err(SessionError::Full(held));
        }
        Ok(())
    }

    /// How they are held.
    pub fn house(&self) -> &House {
        &self.house
    }

    /// Tasks by opaque name.
    pub fn tasks(&self) -> &BTreeMap<String, Arc<Scenario>> {
        &self.house.tasks
    }

    /// The task by which agents ask for a scenario.
    pub fn task_of(&self, scenario: &str) -> Option<String> {
        let found = self.house.tasks.iter().find(|(_, one)| one.name == scenario);
        found.map(|(task, _)| task.clone())
    }

    /// Begins an episode.
    ///
    /// # Errors
    /// For an unknown task, a full house, or a failure outside the simulation.
    pub async fn create(
        &self,
        task: &str,
        seed: Option<u64>,
    ) -> Result<(EpisodeId, Observation), SessionError> {
        self.create_in(task, seed, None).await
    }

    /// Begins an episode in an agent's session, by whose name it is found again.
    ///
    /// # Errors
    /// As [`Sessions::create`].
    pub async fn create_in(
        &self,
        task: &str,
        seed: Option<u64>,
        session: Option<String>,
    ) -> Result<(EpisodeId, Observation), SessionError> {
        let begun = Box::pin(self.begin_in(task, seed, session)).await;
        self.tally.begun(&begun);
        begun
    }

    async fn begin_in(
        &self,
        task: &str,
        seed: Option<u64>,
        session: Option<String>,
    ) -> Result<(EpisodeId, Observation), SessionError> {
        let scenario = self.house.tasks.get(task).cloned().ok_or_else(|| {
            SessionError::Unknown(format!("unknown task `{task}`: ListScenarios names them"))
        })?;
        self.begin_with(scenario, seed, session).await
    }

    async fn begin_with(
        &self,
        scenario: Arc<Scenario>,
        seed: Option<u64>,
        session: Option<String>,
    ) -> Result<(EpisodeId, Observation), SessionError> {
        self.admit()?;
        let id = EpisodeId(chassis::incarnation::draw());
        let seed = seed.unwrap_or_else(chassis::incarnation::draw);
        let begun = Box::pin(Live::begin(&self.house.source, scenario, id, seed)).await;
        let live = Box::new(begun.map_err(|error| SessionError::failed(AGAIN, error))?);
        let header = live.episode.record().header.clone();
        let create = Write::Create { header, epoch: live.epoch, session };
        if let Err(error) = self.house.store.write(create).await {
            live.forget().await;
            return Err(SessionError::failed(ANEW, error));
        }
        let observation = live.observe();
        self.table.write().insert(id, Arc::new(Mutex::new(Seat::Live(live))));
        Ok((id, observation))
    }

    /// What is seen now.
    ///
    /// # Errors
    /// For an unknown episode, or a failure outside the simulation.
    pub async fn observe(&self, id: EpisodeId) -> Result<Observation, SessionError> {
        let slot = self.slot(id).await?;
        let mut seat = slot.lock().await;
        Ok(self.confirmed(id, &mut seat).await?.observe())
    }

    /// The newest episode of an agent's session, and the task that it plays.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub async fn of_session(
        &self,
        session: &str,
    ) -> Result<Option<(EpisodeId, String)>, SessionError> {
        let failed = |error| SessionError::failed(AGAIN, error);
        let found = self.house.store.of_session(session.to_string()).await.map_err(failed)?;
        let Some(id) = found else { return Ok(None) };
        let filter = Filter { episodes: vec![id], ..Filter::default() };
        let listed = self.house.store.list(filter).await.map_err(failed)?;
        Ok(listed.first().map(|summary| {
            // A scenario that is not served here has no task.
            (id, self.task_of(&summary.scenario_name).unwrap_or_default())
        }))
    }

    /// Takes a step. `number`: which one the caller means.
    ///
    /// # Errors
    /// Where the action does not fit or the episode is over nothing has happened; after a failure
    /// outside the simulation the step may be taken again.
    #[tracing::instrument(name = "agent.step", skip_all, fields(episode = %id))]
    pub async fn step(
        &self,
        id: EpisodeId,
        number: Option<u32>,
        action: &[u8],
    ) -> Result<Stepped, SessionError> {
        let stepped = Box::pin(self.take_step(id, number, action)).await;
        self.tally.stepped(&stepped);
        stepped
    }

    async fn take_step(
        &self,
        id: EpisodeId,
        number: Option<u32>,
        action: &[u8],
    ) -> Result<Stepped, SessionError> {
        let text = std::str::from_utf8(action)
            .map_err(|_| SessionError::Wrong("the action is no UTF-8 text".into()))?;
        let action = Action::parse(text).map_err(|error| SessionError::Wrong(error.to_string()))?;
        let slot = self.slot(id).await?;
        let mut seat = slot.lock().await;
        let observation = Box::pin(self.advance(id, number, &action, &mut seat)).await?;
        let live = self.wake(id, &mut seat).await?;
        let reward = Box::pin(live.reward(&self.house.judge, self.house.reward)).await;
        let reward = reward.map_err(|error| {
            SessionError::failed("the step is taken; what it pays comes with the next one", error)
        })?;
        self.keep_score(id, live).await;
        Ok(Stepped { observation, reward })
    }

    /// Plays a step and keeps it; what it pays is another question.
    async fn advance(
        &self,
        id: EpisodeId,
        number: Option<u32>,
        action: &Action,
        seat: &mut MutexGuard<'_, Seat>,
    ) -> Result<Observation, SessionError> {
        let mut live = self.wake(id, seat).await?;
        let other = |live: &Live| number.is_some_and(|number| number != live.episode.steps() + 1);
        if other(live) {
            // Another process may have gone on.
            live = self.confirmed(id, seat).await?;
        }
        if other(live) {
            let next = live.episode.steps() + 1;
            return Err(SessionError::NotNow(format!("the next step is number {next}")));
        }
        let observation = match Box::pin(live.episode.step(action)).await {
            Ok(reply) => reply.observation,
            Err(EpisodeError::Action(error)) => return Err(SessionError::Wrong(error.to_string())),
            Err(error @ EpisodeError::Over(_)) => {
                return Err(SessionError::NotNow(error.to_string()));
            }
            Err(error) => {
                sleep(seat);
                return Err(SessionError::failed(AGAIN, error));
            }
        };
        self.keep(id, seat).await?;
        let live = self.wake(id, seat).await?;
        if let Some(end) = live.episode.ended() {
            self.tally.over(end);
        }
        Ok(observation)
    }

    /// Keeps what has been added to the record of a live episode.
    async fn keep(
        &self,
        id: EpisodeId,
        seat: &mut MutexGuard<'_, Seat>,
    ) -> Result<(), SessionError> {
        let Seat::Live(live) = &mut **seat else { return Ok(()) };
        let (epoch, entries) = (live.epoch, live.episode.unsaved().to_vec());
        let append = Write::Append { episode: id, epoch, entries };
        if let Err(error) = self.house.store.write(append).await {
            self.lost(id, seat, &error);
            return Err(unkept(id, error));
        }
        live.episode.set_saved();
        Ok(())
    }

    /// The grade of an episode that is over.
    ///
    /// # Errors
    /// Where it is not over, is unknown, or something outside the simulation failed.
    pub async fn score(&self, id: EpisodeId) -> Result<Grade, SessionError> {
        let slot = self.slot(id).await?;
        let mut seat = slot.lock().await;
        let live = self.confirmed(id, &mut seat).await?;
        let known = live.known_grade().is_some();
        let graded = Box::pin(live.grade(&self.house.judge)).await;
        let grade = graded.map_err(|error| SessionError::failed(AGAIN, error))?.cloned();
        if !known {
            self.keep_score(id, live).await;
        }
        grade.ok_or_else(|| SessionError::NotNow("the episode is not over: resolve it".into()))
    }

    /// The newest episodes.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub async fn list(&self, newest: u32) -> Result<Vec<Listed>, SessionError> {
        let filter = Filter { newest: Some(newest), ..Filter::default() };
        let kept = self.house.store.list(filter).await;
        let kept = kept.map_err(|error| SessionError::failed(AGAIN, error))?;
        let mut listed = Vec::new();
        for summary in kept {
            let slot = self.table.read().get(&summary.episode).cloned();
            // A busy one is live; its world changes right now.
            let seat = slot.as_ref().map(|slot| slot.try_lock());
            let (live, world) = match &seat {
                None => (false, None),
                Some(Err(_)) => (true, None),
                Some(Ok(seat)) => match &**seat {
                    Seat::Live(live) => (true, last_world(live)),
                    _ => (false, None),
                },
            };
            drop(seat);
            listed.push(Listed { summary, live, world });
        }
        self.add_unkept(&mut listed, newest);
        Ok(listed)
    }

    /// Forgets a live episode; whether it was one. Its record stays.
    pub async fn forget(&self, id: EpisodeId) -> bool {
        let Some(slot) = self.table.write().remove(&id) else { return false };
        let mut seat = slot.lock().await;
        match std::mem::replace(&mut *seat, Seat::Stored) {
            Seat::Live(live) => live.forget().await,
            Seat::Stored | Seat::Asleep(..) => {}
        }
        true
    }

    /// The seat of an episode; one that is only in the store gets one.
    async fn slot(&self, id: EpisodeId) -> Result<Arc<Mutex<Seat>>, SessionError> {
        if let Some(slot) = self.table.read().get(&id) {
            return Ok(slot.clone());
        }
        self.house.store.owner(id).await.map_err(|error| unkept(id, error))?;
        let mut table = self.table.write();
        Ok(table.entry(id).or_insert_with(|| Arc::new(Mutex::new(Seat::Stored))).clone())
    }

    /// As [`Sessions::wake`], and nobody else has claimed the episode since.
    async fn confirmed<'s>(
        &self,
        id: EpisodeId,
        seat: &'s mut MutexGuard<'_, Seat>,
    ) -> Result<&'s mut Live, SessionError> {
        // What is over stays as it is, whoever owns it.
        if let Seat::Live(live) = &**seat
            && live.episode.ended().is_none()
        {
            match self.house.store.owner(id).await {
                Ok(epoch) if epoch == live.epoch => {}
                Err(RecordError::Off) => {}
                Ok(epoch) => {
                    tracing::info!(episode = %id, yours = live.epoch, epoch, "owned elsewhere");
                    **seat = Seat::Stored;
                }
                Err(error) => {
                    self.lost(id, seat, &error);
                    return Err(unkept(id, error));
                }
            }
        }
        self.wake(id, seat).await
    }

    /// The live episode of a seat, played again from its record if need be.
    async fn wake<'s>(
        &self,
        id: EpisodeId,
        seat: &'s mut MutexGuard<'_, Seat>,
    ) -> Result<&'s mut Live, SessionError> {
        let House { store, source, judge, reward, .. } = &self.house;
        let claimed = match &**seat {
            Seat::Live(_) => None,
            Seat::Asleep(record, epoch) => Some((Some((**record).clone()), *epoch)),
            Seat::Stored => Some((None, 0)),
        };
        if let Some((kept, before)) = claimed {
            if kept.is_none() {
                // One that this program cannot play is left to those who can.
                let record = store.load(id).await.map_err(|error| unkept(id, error))?;
                record.check().map_err(|error| SessionError::failed(ANEW, error))?;
            }
            let epoch = store.claim(id, before).await.map_err(|error| unkept(id, error))?;
            let record = match kept {
                Some(record) if epoch == before + 1 => record,
                // Until the claim its former owner may have added to it.
                _ => store.load(id).await.map_err(|error| unkept(id, error))?,
            };
            let resumed = Box::pin(Live::resume(source, &record, epoch, judge, *reward)).await;
            let live = resumed.map_err(|error| match error {
                EpisodeError::Unfit(_) | EpisodeError::Diverged { .. } => {
                    SessionError::failed(ANEW, error)
                }
                other => SessionError::failed(AGAIN, other),
            })?;
            tracing::info!(episode = %id, epoch, steps = live.episode.steps(), "resumed");
            **seat = Seat::Live(Box::new(live));
        }
        match &mut **seat {
            Seat::Live(live) => Ok(live),
            _ => Err(SessionError::failed(AGAIN, "the seat is empty")),
        }
    }

    /// After an append that failed or was refused: what is in memory is ahead of what is kept, or
    /// nobody knows whether it is. The store is asked next time.
    fn lost(&self, id: EpisodeId, seat: &mut MutexGuard<'_, Seat>, error: &RecordError) {
        **seat = Seat::Stored;
        // Somebody else goes on with it, and it takes no room here.
        if matches!(error, RecordError::NotOwner { .. } | RecordError::Unknown { .. }) {
            self.table.write().remove(&id);
        }
    }

    async fn keep_score(&self, id: EpisodeId, live: &Live) {
        let Some(grade) = live.known_grade() else { return };
        let terms = serde_json::to_string(&grade.terms).unwrap_or_default();
        let (epoch, score) = (live.epoch, grade.score);
        let write = Write::SetScore { episode: id, epoch, score, terms };
        if let Err(error) = self.house.store.write(write).await {
            tracing::warn!(episode = %id, %error, "the score is not kept");
        }
    }
}

/// Why a record cannot be gone on with.
fn unkept(id: EpisodeId, error: RecordError) -> SessionError {
    match error {
        RecordError::Unknown { .. } | RecordError::Off => {
            SessionError::Unknown(format!("unknown episode {id}: create one"))
        }
        // No failure: somebody asked another process to play it. Who asks again is played here.
        RecordError::NotOwner { .. } => {
            tracing::info!(episode = %id, %error, "owned elsewhere");
            SessionError::Failed { advice: AGAIN, cause: error.to_string() }
        }
        RecordError::Damaged { .. } | RecordError::OtherFormat { .. } | RecordError::Closed => {
            SessionError::failed(ANEW, error)
        }
        error => SessionError::failed(AGAIN, error),
    }
}

/// What is in memory cannot be trusted any more: back to what is kept.
fn sleep(seat: &mut MutexGuard<'_, Seat>) {
    if let Seat::Live(live) = &**seat {
        let (kept, epoch) = (Box::new(live.kept()), live.epoch);
        **seat = Seat::Asleep(kept, epoch);
    }
}

fn last_world(live: &Live) -> Option<model::Digest> {
    live.episode.record().steps().last().map(|step| step.world)
}

mod ending;
mod profiled;
mod steering;
mod tally;

pub use ending::HandedOff;
pub use steering::Steered;
pub use tally::Tally;

#[cfg(test)]
mod tests;
