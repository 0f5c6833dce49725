//! Keeps the record of one episode while it is played. An episode that has a record already is
//! played again from its start: as long as the record goes, nothing is written and all has to be
//! as it says; from there on it grows.

use crate::failure::Failure;
use crate::play::Rules;
use episode::Grade;
use model::EpisodeId;
use record::{Entry, Header, Record, RecordError, Store};

/// The record of one episode, and how far it is kept.
#[derive(Debug)]
pub struct Keeper<'a> {
    store: &'a dyn Store,
    episode: EpisodeId,
    epoch: u64,
    known: Option<Record>,
    /// Entries that agree with the record, or were added to it.
    kept: usize,
}

impl<'a> Keeper<'a> {
    /// Takes the record of `episode` over, if there is one and it may be gone on with; the epoch to
    /// play under.
    ///
    /// # Errors
    /// What is wrong with the store or the record.
    pub fn open<J>(episode: EpisodeId, rules: &Rules<'a, J>) -> Result<(Keeper<'a>, u64), Failure> {
        let store = rules.store;
        let mut keeper = Keeper { store, episode, epoch: 1, known: None, kept: 0 };
        if !(rules.resume && rules.keeps) {
            return Ok((keeper, 1));
        }
        match store.load(episode) {
            Ok(record) => {
                record.check()?;
                keeper.epoch = store.claim(episode)?;
                // Until the claim its former owner may have added to it.
                keeper.known = Some(store.load(episode)?);
            }
            Err(RecordError::Unknown { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let epoch = keeper.epoch;
        Ok((keeper, epoch))
    }

    /// Begins the record, unless there is one.
    ///
    /// # Errors
    /// Where it is of another scenario, or the store refuses.
    pub fn begin(&self, header: &Header, epoch: u64) -> Result<(), Failure> {
        match &self.known {
            None => Ok(self.store.create(header, epoch)?),
            Some(known) if known.header == *header => Ok(()),
            Some(_) => Err(self.other("scenario")),
        }
    }

    /// Keeps what has been added to `entries` since the last call, all or nothing.
    ///
    /// # Errors
    /// Where it is not what the record says, or the store refuses.
    pub fn keep(&mut self, entries: &[Entry]) -> Result<(), Failure> {
        let known = self.known.as_ref().map_or(&[][..], |record| &record.entries);
        let compared = entries.len().min(known.len());
        if self.kept < compared && entries[self.kept..compared] != known[self.kept..compared] {
            return Err(self.other("course"));
        }
        let fresh = &entries[self.kept.max(compared)..];
        if !fresh.is_empty() {
            self.store.append(self.episode, self.epoch, fresh)?;
        }
        self.kept = entries.len();
        Ok(())
    }

    /// Keeps the score.
    ///
    /// # Errors
    /// Where the store refuses.
    pub fn score(&self, grade: &Grade) -> Result<(), Failure> {
        let terms = serde_json::to_string(&grade.terms).map_err(Failure::failed)?;
        Ok(self.store.set_score(self.episode, self.epoch, grade.score, &terms)?)
    }

    fn other(&self, what: &str) -> Failure {
        Failure::failed(format!(
            "the record of episode {} has another {what} than this program plays: replay it with \
             the release that wrote it, or prune it",
            self.episode
        ))
    }
}
