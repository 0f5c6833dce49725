//! Records in memory: the same rules as on disk, and gone with the process.

use crate::error::RecordError;
use crate::record::{Entry, Header, Record};
use crate::store::{self, Answer, Filter, Prune, Store, Summary, Write, Written};
use model::EpisodeId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps records in this process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    shelf: Mutex<Shelf>,
}

/// All records, numbered in the order of their creation.
#[derive(Debug, Default)]
struct Shelf {
    created: u64,
    numbers: BTreeMap<EpisodeId, u64>,
    kept: BTreeMap<u64, Kept>,
}

#[derive(Debug)]
struct Kept {
    record: Record,
    epoch: u64,
    session: Option<String>,
    score: Option<(f64, String)>,
}

impl MemoryStore {
    /// An empty one.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // Every change is checked before it is begun, so a panic leaves nothing half done.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn submit(&self, write: Write, answer: Answer) {
        let result = self.shelf().write(write);
        answer(result);
    }

    fn load(&self, episode: EpisodeId) -> Result<Record, RecordError> {
        self.shelf().kept(episode).map(|kept| kept.record.clone())
    }

    fn owner(&self, episode: EpisodeId) -> Result<u64, RecordError> {
        self.shelf().kept(episode).map(|kept| kept.epoch)
    }

    fn of_session(&self, session: &str) -> Result<Option<EpisodeId>, RecordError> {
        let shelf = self.shelf();
        let mut newest = shelf.kept.values().rev();
        let found = newest.find(|kept| kept.session.as_deref() == Some(session));
        Ok(found.map(|kept| kept.record.header.episode))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, RecordError> {
        let wanted: BTreeSet<_> = filter.episodes.iter().collect();
        let shelf = self.shelf();
        let summaries = shelf.kept.values().rev().map(Kept::summary);
        let found = summaries.filter(|s| {
            (wanted.is_empty() || wanted.contains(&s.episode))
                && filter.scenario_name.as_ref().is_none_or(|name| *name == s.scenario_name)
                && filter.ended.is_none_or(|ended| ended == s.ended.is_some())
        });
        let most = filter.newest.and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
        Ok(found.take(most).collect())
    }
}

impl Shelf {
    fn write(&mut self, write: Write) -> Result<Written, RecordError> {
        match write {
            Write::Create { header, epoch, session } => self.create(header, epoch, session),
            Write::Append { episode, epoch, entries } => {
                let kept = self.owned(episode, epoch)?;
                if kept.record.end().is_some() {
                    return Err(RecordError::Ended { episode });
                }
                store::end_of(episode, &entries)?;
                kept.record.entries.extend(entries);
                Ok(Written::Done)
            }
            Write::Claim { episode } => {
                let kept = self.kept(episode)?;
                kept.epoch += 1;
                Ok(Written::Epoch(kept.epoch))
            }
            Write::SetScore { episode, epoch, score, terms } => {
                let kept = self.owned(episode, epoch)?;
                if !score.is_finite() {
                    return Err(RecordError::Score { episode });
                }
                kept.score = Some((score, terms));
                Ok(Written::Done)
            }
            Write::Prune(prune) => Ok(Written::Pruned(self.prune(&prune))),
        }
    }

    fn create(
        &mut self,
        header: Header,
        epoch: u64,
        session: Option<String>,
    ) -> Result<Written, RecordError> {
        let episode = header.episode;
        if self.numbers.contains_key(&episode) {
            return Err(RecordError::Exists { episode });
        }
        self.created += 1;
        self.numbers.insert(episode, self.created);
        let record = Record { header, entries: Vec::new() };
        self.kept.insert(self.created, Kept { record, epoch, session, score: None });
        Ok(Written::Done)
    }

    fn kept(&mut self, episode: EpisodeId) -> Result<&mut Kept, RecordError> {
        let number = self.numbers.get(&episode).copied().unwrap_or_default();
        self.kept.get_mut(&number).ok_or(RecordError::Unknown { episode })
    }

    fn owned(&mut self, episode: EpisodeId, epoch: u64) -> Result<&mut Kept, RecordError> {
        let kept = self.kept(episode)?;
        if kept.epoch != epoch {
            let owner = kept.epoch;
            return Err(RecordError::NotOwner { episode, yours: epoch, owner });
        }
        Ok(kept)
    }

    fn prune(&mut self, prune: &Prune) -> u64 {
        if prune.is_idle() || prune.older_than_s.is_some() {
            return 0;
        }
        let newest = prune.keep_newest.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let candidates = self.kept.iter().rev().skip(newest);
        let gone: Vec<u64> = candidates
            .filter(|(_, kept)| {
                let episode = &kept.record.header.episode;
                prune.episodes.as_ref().is_none_or(|ids| ids.contains(episode))
                    && (!prune.ended_only || kept.record.end().is_some())
            })
            .map(|(number, _)| *number)
            .collect();
        for number in &gone {
            self.kept.remove(number);
        }
        self.numbers.retain(|_, number| self.kept.contains_key(number));
        gone.len() as u64
    }
}

impl Kept {
    fn summary(&self) -> Summary {
        let Header { episode, seed, scenario_name, .. } = &self.record.header;
        Summary {
            episode: *episode,
            scenario_name: scenario_name.clone(),
            seed: *seed,
            steps: self.record.steps().count() as u32,
            last_tick: self.record.entries.last().map(Entry::tick),
            ended: self.record.end().map(|(_, reason)| reason),
            score: self.score.as_ref().map(|(score, _)| *score),
            terms: self.score.as_ref().map(|(_, terms)| terms.clone()),
            created_s: None,
        }
    }
}
