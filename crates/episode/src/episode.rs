//! One episode: a scenario and a seed, played in a fleet. It spawns nothing and sets no timer; who
//! owns it decides where it runs and where its record goes.

use crate::engine::Engine;
use crate::error::EpisodeError;
use crate::exchange::Exchange;
use crate::handover::Handover;
use crate::input::ControlOrder;
use crate::users::Users;
use crate::watch::Cast;
use action::Site;
use fleet::{Fleet, Reply, Roster, Savepoint};
use machine::Kind;
use model::{EpisodeId, Inbox, Inspection, InstanceId, Noise, Outbox, Setup, Tick};
use record::{Entry, Header, Record};
use scenario::Scenario;
use std::collections::VecDeque;
use std::sync::Arc;

/// All kinds, as the engine and the actions look them up.
pub type AllKinds = &'static [&'static dyn Kind];

/// One episode in a fleet.
#[derive(Debug)]
pub struct Episode<F> {
    pub(crate) fleet: F,
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) setups: Arc<Vec<Setup>>,
    pub(crate) kinds: AllKinds,
    pub(crate) cast: Vec<&'static dyn Kind>,
    pub(crate) noise: Noise,
    pub(crate) epoch: u64,
    pub(crate) engine: Engine,
    pub(crate) users: Users,
    pub(crate) exchange: Exchange,
    pub(crate) replies: Vec<Reply>,
    pub(crate) inboxes: Vec<Inbox>,
    /// Every outbox of the last round, for the tick digest.
    pub(crate) last: Vec<Option<Outbox>>,
    /// Scratch of the tick digest.
    pub(crate) buffer: Vec<f64>,
    pub(crate) record: Record,
    /// Entries of the record that have been saved.
    pub(crate) saved: usize,
    /// Digest of every tick since the start, kept where a conformance test asks for it.
    pub(crate) tick_digests: Option<Vec<model::Digest>>,
    /// Cumulative impact before each tick from 0 on, kept where a baseline is made.
    pub(crate) trail: Option<Vec<i64>>,
    /// Control inputs of another world of the same record, to be made at the same ticks.
    pub(crate) echoes: VecDeque<(Tick, ControlOrder)>,
    /// Components have been told something since their digests were taken.
    pub(crate) told: bool,
}

impl<F: Fleet> Episode<F> {
    /// Prepares an episode whose components are not created yet.
    ///
    /// # Errors
    /// Where the scenario names a kind that this build does not have, or cannot be encoded.
    pub fn prepare(
        fleet: F,
        kinds: AllKinds,
        scenario: Arc<Scenario>,
        id: EpisodeId,
        seed: u64,
        epoch: u64,
    ) -> Result<Episode<F>, EpisodeError> {
        let noise = Noise::root(seed).branch(&scenario.name);
        let topology = &scenario.topology;
        let kind_of = |name: &str| {
            let unknown = || EpisodeError::Unfit(format!("this build has no kind `{name}`"));
            kinds.iter().copied().find(|k| k.name() == name).ok_or_else(unknown)
        };
        let cast =
            topology.instances.iter().map(|i| kind_of(&i.kind)).collect::<Result<Vec<_>, _>>()?;
        let unfit = |error: serde_json::Error| EpisodeError::Unfit(format!("scenario: {error}"));
        let text = scenario.canonical().map_err(unfit)?;
        let header = Header::new(id, seed, &scenario.name, text);
        Ok(Episode {
            fleet,
            setups: Arc::new(topology.ids().map(|i| topology.setup(i, noise)).collect()),
            kinds,
            cast,
            noise,
            epoch,
            engine: Engine::new(&scenario, noise),
            users: Users::new(topology),
            exchange: Exchange::new(topology),
            replies: Vec::new(),
            inboxes: Vec::new(),
            last: Vec::new(),
            buffer: Vec::new(),
            record: Record { header, entries: Vec::new() },
            saved: 0,
            tick_digests: None,
            trail: None,
            echoes: VecDeque::new(),
            told: false,
            scenario,
        })
    }

    /// Creates the components and plays the warm-up: afterwards it is tick 0, the page.
    ///
    /// # Errors
    /// Where a component cannot be created, reached or healed.
    pub async fn begin(&mut self) -> Result<(), EpisodeError> {
        let roster = self.roster();
        loop {
            match self.fleet.create(&roster).await {
                Ok(()) => break,
                Err(error) => self.heal_or(error).await?,
            }
        }
        while self.engine.tick < Tick(0) {
            self.play_tick(false).await?;
        }
        // No step has taken digests yet.
        self.told = true;
        Ok(())
    }

    /// What the components are created from.
    pub fn roster(&self) -> Roster {
        Roster {
            episode: self.record.header.episode,
            epoch: self.epoch,
            setups: self.setups.to_vec(),
            start: self.scenario.timing.start,
        }
    }

    /// The next tick to play.
    pub fn tick(&self) -> Tick {
        self.engine.tick
    }

    /// The scenario.
    pub fn scenario(&self) -> &Arc<Scenario> {
        &self.scenario
    }

    /// The record so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// State outside the components.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The fleet.
    pub fn fleet(&self) -> &F {
        &self.fleet
    }

    /// The fleet, for control and tests.
    pub fn fleet_mut(&mut self) -> &mut F {
        &mut self.fleet
    }

    /// The episode's noise for a purpose outside the world (an agent's dice, a search).
    pub fn noise_for(&self, purpose: &str) -> Noise {
        self.noise.branch("outside").branch(purpose)
    }

    /// Impact so far, micro-user-minutes.
    pub fn impact(&self) -> i64 {
        self.engine.impact
    }

    /// Whether it is over, and why.
    pub fn ended(&self) -> Option<record::EndReason> {
        self.engine.end
    }

    /// Steps taken.
    pub fn steps(&self) -> u32 {
        self.engine.steps
    }

    /// Entries that are not saved yet; the owner appends them before it answers.
    pub fn unsaved(&self) -> &[Entry] {
        &self.record.entries[self.saved..]
    }

    /// The owner has appended everything there was.
    pub fn set_saved(&mut self) {
        self.saved = self.record.entries.len();
    }

    /// Keeps the digest of every tick from now on, for conformance tests.
    pub fn keep_tick_digests(&mut self) {
        self.tick_digests = Some(Vec::new());
    }

    /// The digests kept so far.
    pub fn tick_digests(&self) -> &[model::Digest] {
        self.tick_digests.as_deref().unwrap_or_default()
    }

    /// Keeps the cumulative impact before each tick from now on, and makes another world's control
    /// inputs at the ticks at which they were made there.
    pub fn shadow(&mut self, controls: Vec<(Tick, ControlOrder)>) {
        self.trail = Some(vec![self.engine.impact]);
        self.echoes = controls.into();
    }

    /// Cumulative impact before each tick since [`Episode::shadow`].
    pub fn trail(&self) -> &[i64] {
        self.trail.as_deref().unwrap_or_default()
    }

    /// Where actions happen.
    pub fn site(&self) -> Site<'_> {
        Site::new(&self.scenario.topology, &self.kinds)
    }

    pub(crate) fn cast(&self) -> Cast<'_> {
        Cast { setups: &self.setups, kinds: &self.cast }
    }

    /// What the grader needs of an episode that is over.
    ///
    /// # Errors
    /// Where a component cannot be asked.
    pub async fn hand_over(&mut self) -> Result<Handover, EpisodeError> {
        let mut inspections = Vec::new();
        for id in self.scenario.topology.ids() {
            inspections.push(self.inspect(id).await?);
        }
        let savepoint = self.save().await?;
        Ok(Handover {
            record: self.record.clone(),
            engine: self.engine.clone(),
            savepoint,
            inspections,
        })
    }

    /// The truth about one component, for graders and the control port.
    ///
    /// # Errors
    /// Where it cannot be asked.
    pub async fn inspect(&mut self, id: InstanceId) -> Result<Inspection, EpisodeError> {
        loop {
            match self.fleet.inspect(id).await {
                Ok(inspection) => return Ok(inspection),
                Err(error) => self.heal_or(error).await?,
            }
        }
    }

    /// What a component publishes under the name of one of its kind's signals, as of the last
    /// tick; `None` where its kind has no such signal. Without the noise of measurement.
    pub fn signal(&self, of: InstanceId, name: &str) -> Option<f64> {
        let seen = self.engine.watch.seen.get(of.at())?;
        seen.signal(*self.cast.get(of.at())?, self.setups.get(of.at())?, name)
    }

    /// Numbers of the pulls in force at the users' own edges, which belong to no component.
    pub fn entry_pulls(&self) -> impl Iterator<Item = u64> {
        self.engine.entry_faults.iter().map(|(id, _, _)| *id)
    }

    /// The state of all components, healing on the way if need be.
    pub(crate) async fn save(&mut self) -> Result<Savepoint, EpisodeError> {
        loop {
            match self.fleet.save().await {
                Ok(savepoint) => return Ok(savepoint),
                Err(error) => self.heal_or(error).await?,
            }
        }
    }
}
