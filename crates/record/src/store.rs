//! What every store of records can do. Writes go through one method that does not block, so that
//! a shell with a runtime can wait for them in its own way; the others are made of it.

use crate::error::RecordError;
use crate::record::{EndReason, Entry, Header, Record};
use model::EpisodeId;
use std::fmt::Debug;
use std::sync::mpsc;

/// One change of a store. It is done whole or not at all.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Begins the record of an episode.
    Create {
        /// What it is played from.
        header: Header,
        /// The epoch that owns it at first.
        epoch: u64,
        /// The session that it is played in, if any; it is no part of the record's bytes.
        session: Option<String>,
    },
    /// Adds entries; they are there together, or none of them is.
    Append {
        /// The episode.
        episode: EpisodeId,
        /// The writer's epoch; refused unless it owns the episode.
        epoch: u64,
        /// What to add.
        entries: Vec<Entry>,
    },
    /// Takes an episode over: its epoch rises by one, and whoever owned it writes no more.
    Claim {
        /// The episode.
        episode: EpisodeId,
    },
    /// Keeps the score beside the record; it is no part of its bytes.
    SetScore {
        /// The episode.
        episode: EpisodeId,
        /// The writer's epoch; refused unless it owns the episode.
        epoch: u64,
        /// The score.
        score: f64,
        /// The terms that add up to it, as JSON.
        terms: String,
    },
    /// Removes records.
    Prune(Prune),
}

/// What a [`Write`] came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is kept.
    Done,
    /// The epoch that owns the episode now.
    Epoch(u64),
    /// How many records are gone.
    Pruned(u64),
}

/// Called once with what a [`Write`] came to, on a thread of the store: it must neither block nor
/// panic. Dropped without a call only if the store itself broke down.
pub type Answer = Box<dyn FnOnce(Result<Written, RecordError>) + Send>;

/// Which records to list or to export; a record must meet all that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only these episodes; empty: any.
    pub episodes: Vec<EpisodeId>,
    /// Only this scenario.
    pub scenario_name: Option<String>,
    /// Only those that are over, or only those that are not.
    pub ended: Option<bool>,
    /// At most this many, the newest.
    pub newest: Option<u32>,
}

/// Which records to remove; a record must meet all that is set. With nothing but `ended_only`
/// set, nothing is removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prune {
    /// Only these episodes.
    pub episodes: Option<Vec<EpisodeId>>,
    /// Never the newest so many of the whole store.
    pub keep_newest: Option<u32>,
    /// Only those created longer ago, seconds by the clock of the database. A store that knows no
    /// time removes nothing then.
    pub older_than_s: Option<u32>,
    /// Only those that are over. A live episode whose record is gone cannot go on.
    pub ended_only: bool,
}

impl Prune {
    /// Whether it removes nothing, whatever there is.
    pub fn is_idle(&self) -> bool {
        self.episodes.is_none() && self.keep_newest.is_none() && self.older_than_s.is_none()
    }
}

/// One record in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The episode.
    pub episode: EpisodeId,
    /// Name of its scenario.
    pub scenario_name: String,
    /// Its seed.
    pub seed: u64,
    /// Steps done.
    pub steps: u32,
    /// The tick of its last entry.
    pub last_tick: Option<model::Tick>,
    /// Why it is over, if it is.
    pub ended: Option<EndReason>,
    /// Its score, if known.
    pub score: Option<f64>,
    /// The terms of the score as JSON.
    pub terms: Option<String>,
    /// When it was created, seconds since 1970; absent in a store that knows no time.
    pub created_s: Option<i64>,
}

/// A place that keeps records.
pub trait Store: Send + Sync + Debug {
    /// Begins a write and returns at once; `answer` is called when it is kept or refused, perhaps
    /// before this returns. With too many writes waiting it is refused ([`RecordError::Busy`]).
    fn submit(&self, write: Write, answer: Answer);

    /// The record of an episode, as far as it is kept. Whether this program can play it is said
    /// by [`Record::check`].
    ///
    /// # Errors
    /// [`RecordError::Unknown`], [`RecordError::Off`], or what is wrong with the store.
    fn load(&self, episode: EpisodeId) -> Result<Record, RecordError>;

    /// The epoch that owns an episode now.
    ///
    /// # Errors
    /// As [`Store::load`].
    fn owner(&self, episode: EpisodeId) -> Result<u64, RecordError>;

    /// The newest episode that was begun in a session, if there is one.
    ///
    /// # Errors
    /// What is wrong with the store.
    fn of_session(&self, session: &str) -> Result<Option<EpisodeId>, RecordError>;

    /// The records that meet `filter`, newest first.
    ///
    /// # Errors
    /// What is wrong with the store.
    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, RecordError>;

    /// Writes and waits for it.
    ///
    /// # Errors
    /// Why the write was refused.
    fn write(&self, write: Write) -> Result<Written, RecordError> {
        let (answer, answered) = channel();
        self.submit(write, answer);
        answered.recv().unwrap_or(Err(RecordError::Closed))
    }

    /// Begins the record of an episode that `epoch` owns.
    ///
    /// # Errors
    /// [`RecordError::Exists`], or what is wrong with the store.
    fn create(&self, header: &Header, epoch: u64) -> Result<(), RecordError> {
        self.write(Write::Create { header: header.clone(), epoch, session: None }).map(drop)
    }

    /// Adds entries, all or none.
    ///
    /// # Errors
    /// [`RecordError::NotOwner`], [`RecordError::Unknown`], [`RecordError::Ended`], or what is
    /// wrong with the store.
    fn append(&self, episode: EpisodeId, epoch: u64, entries: &[Entry]) -> Result<(), RecordError> {
        self.write(Write::Append { episode, epoch, entries: entries.to_vec() }).map(drop)
    }

    /// Takes an episode over and says its new epoch.
    ///
    /// # Errors
    /// [`RecordError::Unknown`], or what is wrong with the store.
    fn claim(&self, episode: EpisodeId) -> Result<u64, RecordError> {
        match self.write(Write::Claim { episode })? {
            Written::Epoch(epoch) => Ok(epoch),
            Written::Done | Written::Pruned(_) => Err(RecordError::Unknown { episode }),
        }
    }

    /// Keeps the score of an episode, in place of an earlier one.
    ///
    /// # Errors
    /// [`RecordError::Score`] for one that is no number, otherwise as [`Store::append`]; an
    /// episode that is over may be scored.
    fn set_score(
        &self,
        episode: EpisodeId,
        epoch: u64,
        score: f64,
        terms: &str,
    ) -> Result<(), RecordError> {
        self.write(Write::SetScore { episode, epoch, score, terms: terms.into() }).map(drop)
    }

    /// Removes records and says how many.
    ///
    /// # Errors
    /// What is wrong with the store.
    fn prune(&self, prune: &Prune) -> Result<u64, RecordError> {
        match self.write(Write::Prune(prune.clone()))? {
            Written::Pruned(count) => Ok(count),
            Written::Done | Written::Epoch(_) => Ok(0),
        }
    }
}

/// An [`Answer`] and where it arrives.
pub fn channel() -> (Answer, mpsc::Receiver<Result<Written, RecordError>>) {
    let (sender, receiver) = mpsc::sync_channel(1);
    // Nobody waits any more: the write is as done or refused as before.
    let answer = move |result| drop(sender.try_send(result));
    (Box::new(answer), receiver)
}

/// Why the episode is over after `entries`; refuses entries that follow an end.
///
/// # Errors
/// [`RecordError::Ended`].
pub fn end_of(episode: EpisodeId, entries: &[Entry]) -> Result<Option<EndReason>, RecordError> {
    let at = entries.iter().position(|entry| matches!(entry, Entry::End { .. }));
    match at.map(|at| (&entries[at], &entries[at + 1..])) {
        Some((Entry::End { reason, .. }, [])) => Ok(Some(*reason)),
        Some(_) => Err(RecordError::Ended { episode }),
        None => Ok(None),
    }
}
