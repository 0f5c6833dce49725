//! Running a record: resume after a crash, another owner, regrading and looking back are all this.
//! Healing is too: an embedded replay stops where a lost component was.

use crate::episode::{AllKinds, Episode};
use crate::error::EpisodeError;
use crate::handover::Handover;
use crate::input::External;
use fleet::{EmbeddedFleet, Fleet, FleetError, Savepoint};
use model::Tick;
use record::{Entry, Record};
use scenario::Scenario;
use std::sync::Arc;

/// The scenario in a record.
///
/// # Errors
/// Where it is not of this build.
pub fn scenario_of(record: &Record) -> Result<Scenario, EpisodeError> {
    let unfit = |error: String| EpisodeError::Unfit(format!("the scenario of the record: {error}"));
    let scenario: Scenario =
        serde_json::from_str(&record.header.scenario).map_err(|error| unfit(error.to_string()))?;
    scenario.check().map_err(unfit)?;
    Ok(scenario)
}

impl<F: Fleet> Episode<F> {
    /// Plays `record` from its start in `fleet`, and checks every step's digest on the way.
    ///
    /// # Errors
    /// [`EpisodeError::Diverged`] where this build simulates otherwise; else as [`Episode::step`].
    pub async fn resume(
        fleet: F,
        kinds: AllKinds,
        record: &Record,
        epoch: u64,
    ) -> Result<Episode<F>, EpisodeError> {
        record.check().map_err(|error| EpisodeError::Unfit(error.to_string()))?;
        let scenario = Arc::new(scenario_of(record)?);
        let header = &record.header;
        let mut episode =
            Episode::prepare(fleet, kinds, scenario, header.episode, header.seed, epoch)?;
        episode.begin().await?;
        episode.rerun(record).await?;
        episode.saved = episode.record.entries.len().min(record.entries.len());
        Ok(episode)
    }

    /// Takes the record's inputs one after another.
    pub(crate) async fn rerun(&mut self, record: &Record) -> Result<(), EpisodeError> {
        for entry in &record.entries {
            match entry {
                Entry::Input(input) => match External::of(input)? {
                    External::Action(action) => {
                        self.step(&action).await?;
                    }
                    External::Control(order) => self.control(&order).await?,
                },
                Entry::Step(step) => {
                    self.agrees(step)?;
                }
                Entry::End { .. } => {}
            }
        }
        Ok(())
    }

    /// Holds a recorded step against what was played.
    ///
    /// # Errors
    /// Names the first thing that differs.
    pub fn agrees(&self, recorded: &record::Step) -> Result<(), EpisodeError> {
        let step = recorded.number;
        let mine = self.record.steps().find(|mine| mine.number == step).ok_or_else(|| {
            EpisodeError::Unfit(format!("step {step} of the record has no input"))
        })?;
        match recorded.difference(mine) {
            None => Ok(()),
            Some(difference) => Err(EpisodeError::Diverged { step, difference }),
        }
    }

    /// Brings the components of `kind` back to the state before call `seq`: an embedded replay of
    /// the record stops there, and its snapshots are restored.
    pub(crate) async fn heal(&mut self, kind: &str, seq: u64) -> Result<(), EpisodeError> {
        let header = &self.record.header;
        let fleet = EmbeddedFleet::new(self.kinds);
        let mut replica = Episode::prepare(
            fleet,
            self.kinds,
            self.scenario.clone(),
            header.episode,
            header.seed,
            self.epoch,
        )?;
        replica.fleet.halt_before(kind, seq);
        let record = self.record.clone();
        let halted = Box::pin(async {
            let outcome = match replica.begin().await {
                Ok(()) => replica.rerun(&record).await,
                Err(error) => Err(error),
            };
            matches!(outcome, Err(EpisodeError::Fleet(FleetError::Halted { .. })))
        })
        .await;
        // A replay that does not come to the call stands right before it: its number is the next.
        let at = replica.fleet.seq(kind) + 1;
        if !halted && at != seq {
            return Err(EpisodeError::Unfit(format!(
                "healing {kind}: the replay stands before call {at}, not before call {seq}"
            )));
        }
        self.fleet.heal(kind, &replica.fleet).await?;
        Ok(())
    }
}

impl Episode<EmbeddedFleet> {
    /// An embedded episode in the state that a hand-over describes.
    ///
    /// # Errors
    /// Where the hand-over is not of this build, or its parts do not belong together.
    pub async fn continue_from(
        handover: &Handover,
        kinds: AllKinds,
    ) -> Result<Episode<EmbeddedFleet>, EpisodeError> {
        let scenario = Arc::new(scenario_of(&handover.record)?);
        let header = &handover.record.header;
        let fleet = EmbeddedFleet::new(kinds);
        let mut episode = Episode::prepare(fleet, kinds, scenario, header.episode, header.seed, 0)?;
        let roster = episode.roster();
        let savepoint: &Savepoint = &handover.savepoint;
        episode.fleet.restore(&roster, savepoint).await?;
        episode.engine = handover.engine.clone();
        episode.record = handover.record.clone();
        episode.adopt();
        Ok(episode)
    }

    /// An independent copy of everything.
    pub fn fork(&self) -> Episode<EmbeddedFleet> {
        Episode {
            fleet: self.fleet.fork(),
            scenario: self.scenario.clone(),
            setups: self.setups.clone(),
            kinds: self.kinds,
            cast: self.cast.clone(),
            noise: self.noise,
            epoch: self.epoch,
            engine: self.engine.clone(),
            users: self.users.clone(),
            exchange: self.exchange.clone(),
            replies: self.replies.clone(),
            inboxes: Vec::new(),
            last: self.last.clone(),
            buffer: Vec::new(),
            record: self.record.clone(),
            saved: self.saved,
            tick_digests: None,
            trail: self.trail.clone(),
            echoes: self.echoes.clone(),
            told: self.told,
        }
    }

    /// Takes over what the engine derives from the components and from its own state.
    fn adopt(&mut self) {
        self.replies = self
            .fleet
            .instances()
            .iter()
            .map(|instance| fleet::Reply {
                outbox: instance.outbox().clone(),
                advanced: None,
                digest: instance.digest().ok(),
            })
            .collect();
        self.last = self.replies.iter().map(|reply| Some(reply.outbox.clone())).collect();
        let edges: Vec<_> = self.engine.entry_faults.iter().map(|(_, edge, _)| *edge).collect();
        for edge in edges {
            self.users.set_fault(edge, self.engine.entry_fault(edge));
        }
    }

    /// Digest of the world as a step's last entry has it.
    ///
    /// # Errors
    /// Where the state cannot be encoded.
    pub fn digest(&self) -> Result<model::Digest, EpisodeError> {
        let mut digester = model::Digester::default();
        digester.digest(self.engine.digest()?);
        for instance in self.fleet.instances() {
            digester.digest(instance.digest()?);
        }
        Ok(digester.finish())
    }

    /// Plays without an agent up to `until`, whether or not the episode is over.
    ///
    /// # Errors
    /// Never in practice: an embedded fleet cannot lose a component.
    pub async fn play_to(&mut self, until: Tick) -> Result<(), EpisodeError> {
        while self.engine.tick < until {
            self.play_tick(false).await?;
        }
        Ok(())
    }
}
