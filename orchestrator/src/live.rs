//! One live episode of a session: played in its fleet, and paid for step by step.

use crate::body::Source;
use crate::export::Export;
use crate::play::RewardMode;
use episode::{Baselines, Episode, EpisodeError, Grade, Judge, Observation, Purse};
use fleet::{AnyFleet, Fleet};
use model::EpisodeId;
use record::{Actor, Entry, Record};
use scenario::Scenario;
use std::sync::Arc;

/// An episode in memory.
#[derive(Debug)]
pub struct Live {
    /// The episode.
    pub episode: Episode<AnyFleet>,
    /// Which owner of the record this is.
    pub epoch: u64,
    purse: Purse,
    grade: Option<Grade>,
    export: Option<Export>,
}

impl Live {
    /// A new one at tick 0; nothing is kept yet.
    ///
    /// # Errors
    /// Where a component fails.
    pub async fn begin(
        source: &Source,
        scenario: Arc<Scenario>,
        id: EpisodeId,
        seed: u64,
    ) -> Result<Live, EpisodeError> {
        let (fleet, epoch) = (source.fleet(), 1);
        let mut episode = Episode::prepare(fleet, fleet::kinds(), scenario, id, seed, epoch)?;
        Box::pin(episode.begin()).await?;
        let export = source.hub().map(|hub| Export::new(hub.clone(), &episode));
        let mut live = Live { episode, epoch, purse: Purse::default(), grade: None, export };
        live.publish().await;
        Ok(live)
    }

    /// One that goes on from its record, under a new epoch.
    ///
    /// # Errors
    /// Where a component or the judge fails, or this build plays the record otherwise.
    pub async fn resume<J: Judge>(
        source: &Source,
        record: &Record,
        epoch: u64,
        judge: &J,
        mode: RewardMode,
    ) -> Result<Live, EpisodeError> {
        let resumed = Episode::resume(source.fleet(), fleet::kinds(), record, epoch);
        let episode = Box::pin(resumed).await?;
        let mut purse = Purse::default();
        if mode == RewardMode::Dense {
            Box::pin(repay(&mut purse, &episode, judge)).await?;
        }
        let mut export = source.hub().map(|hub| Export::new(hub.clone(), &episode));
        if let Some(export) = &mut export {
            Box::pin(export.catch_up(&episode)).await;
        }
        Ok(Live { episode, epoch, purse, grade: None, export })
    }

    /// Exports the telemetry of what has happened since the last call.
    pub async fn publish(&mut self) {
        if let Some(export) = &mut self.export {
            Box::pin(export.publish(&self.episode)).await;
        }
    }

    /// What the step that was just taken pays.
    ///
    /// # Errors
    /// Where the judge or a component cannot be asked.
    pub async fn reward<J: Judge>(
        &mut self,
        judge: &J,
        mode: RewardMode,
    ) -> Result<f64, EpisodeError> {
        self.publish().await;
        if self.episode.ended().is_none() && mode == RewardMode::Final {
            return Ok(0.0);
        }
        let paid = Box::pin(self.episode.reward(judge, &mut self.purse)).await;
        let (reward, grade) = paid?;
        self.grade = grade.or(self.grade.take());
        Ok(reward)
    }

    /// The grade of an episode that is over.
    ///
    /// # Errors
    /// As [`Live::reward`].
    pub async fn grade<J: Judge>(&mut self, judge: &J) -> Result<Option<&Grade>, EpisodeError> {
        if self.grade.is_none() && self.episode.ended().is_some() {
            self.reward(judge, RewardMode::Final).await?;
        }
        Ok(self.grade.as_ref())
    }

    /// The grade, if it is known already.
    pub fn known_grade(&self) -> Option<&Grade> {
        self.grade.as_ref()
    }

    /// What is seen now.
    pub fn observe(&self) -> Observation {
        self.episode.observe(None)
    }

    /// The record up to what is kept.
    pub fn kept(&self) -> Record {
        let record = self.episode.record();
        let kept = record.entries.len() - self.episode.unsaved().len();
        Record { header: record.header.clone(), entries: record.entries[..kept].to_vec() }
    }

    /// Components forget it. One that cannot be reached forgets it later by itself.
    pub async fn forget(mut self: Box<Self>) {
        if let Err(error) = self.episode.fleet_mut().drop_episode().await {
            tracing::debug!(%error, "not forgotten everywhere");
        }
    }
}

/// Pays again what the steps of the record were paid, under the baselines of their time.
async fn repay<J: Judge>(
    purse: &mut Purse,
    episode: &Episode<AnyFleet>,
    judge: &J,
) -> Result<(), EpisodeError> {
    let (record, scenario) = (episode.record(), episode.scenario());
    let mut prefix = Record { header: record.header.clone(), entries: Vec::new() };
    let mut baselines: Option<Arc<Baselines>> = None;
    let last = episode.ended().is_some().then(|| episode.steps());
    for entry in &record.entries {
        prefix.entries.push(entry.clone());
        match entry {
            Entry::Input(input) if input.actor == Actor::Control => baselines = None,
            // The last step of an episode pays with the grade.
            Entry::Step(step) if Some(step.number) != last => {
                let now = match baselines.take() {
                    Some(known) => known,
                    None => judge.baselines(scenario, &prefix).await?,
                };
                purse.step(&now, step.to.0, step.impact_micro);
                baselines = Some(now);
            }
            _ => {}
        }
    }
    Ok(())
}
