//! The judge in this process.

use crate::cache::{Cache, Key};
use crate::grade::grade;
use crate::worlds::{Worlds, controls};
use episode::{AllKinds, Baselines, EpisodeError, Grade, Handover, Judge, scenario_of};
use record::{Actor, Record};
use scenario::Scenario;
use std::sync::{Arc, Mutex, PoisonError};

/// Baselines kept at most: about 25 KiB each.
const CACHED_MAX: usize = 1024;

/// Judges in this process; baselines are made when they are first asked for.
#[derive(Debug)]
pub struct LocalJudge {
    kinds: AllKinds,
    cache: Mutex<Cache>,
}

impl LocalJudge {
    /// A judge that knows these kinds.
    pub fn new(kinds: AllKinds) -> LocalJudge {
        LocalJudge { kinds, cache: Mutex::new(Cache::new(CACHED_MAX)) }
    }

    /// The baselines of a record, made or known.
    ///
    /// # Errors
    /// Where the scenario does not fit this build.
    pub async fn known(&self, record: &Record) -> Result<Arc<Baselines>, EpisodeError> {
        let key = key(record);
        let cached = self.cache.lock().unwrap_or_else(PoisonError::into_inner).get(&key);
        if let Some(baselines) = cached {
            return Ok(baselines);
        }
        let scenario = Arc::new(scenario_of(record)?);
        let controls = controls(record)?;
        let worlds = Worlds::new(self.kinds, scenario, record.header.seed, controls).await?;
        let baselines = Arc::new(worlds.baselines().await?);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.put(key, baselines.clone());
        Ok(baselines)
    }
}

fn key(record: &Record) -> Key {
    let mut inputs = String::new();
    for input in record.inputs().filter(|i| i.actor == Actor::Control) {
        inputs += &format!("{} {}\n", input.tick.0, input.body);
    }
    Key::new(&record.header.scenario, record.header.seed, &inputs)
}

impl Judge for LocalJudge {
    async fn baselines(
        &self,
        _: &Scenario,
        record: &Record,
    ) -> Result<Arc<Baselines>, EpisodeError> {
        self.known(record).await
    }

    async fn grade(&self, handover: &Handover) -> Result<Grade, EpisodeError> {
        let baselines = self.known(&handover.record).await?;
        grade(self.kinds, handover, &baselines).await
    }
}
