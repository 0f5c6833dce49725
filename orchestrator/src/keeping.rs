//! A store of records for tasks of a runtime: nothing blocks.

use model::EpisodeId;
use prometheus_client::metrics::counter::Counter;
use record::{Filter, Record, RecordError, Store, Summary, Write, Written};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Waits for a store without holding a thread up.
#[derive(Clone, Debug)]
pub struct Keeping {
    store: Arc<dyn Store>,
    writes: Writes,
}

/// What became of writes; they only grow.
#[derive(Clone, Debug, Default)]
pub struct Writes {
    /// Kept.
    pub kept: Counter,
    /// Refused, or not known to be kept.
    pub refused: Counter,
}

impl Keeping {
    /// Over this store.
    pub fn new(store: Arc<dyn Store>) -> Keeping {
        Keeping { store, writes: Writes::default() }
    }

    /// What became of writes so far.
    pub fn writes(&self) -> &Writes {
        &self.writes
    }

    /// Writes, and waits until it is kept or refused.
    ///
    /// # Errors
    /// Why it was refused.
    pub async fn write(&self, write: Write) -> Result<Written, RecordError> {
        let (tell, told) = oneshot::channel();
        // Nobody waits any more: the write is as done or refused as before.
        self.store.submit(write, Box::new(move |result| drop(tell.send(result))));
        let written = told.await.unwrap_or(Err(RecordError::Closed));
        // Where nothing is to be kept, nothing was refused.
        match &written {
            Ok(_) => drop(self.writes.kept.inc()),
            Err(RecordError::Off) => {}
            Err(_) => drop(self.writes.refused.inc()),
        }
        written
    }

    /// Takes an episode over. A store that keeps nothing has no owners: there the epoch is the
    /// caller's own.
    ///
    /// # Errors
    /// As [`Keeping::write`].
    pub async fn claim(&self, episode: EpisodeId, before: u64) -> Result<u64, RecordError> {
        match self.write(Write::Claim { episode }).await {
            Ok(Written::Epoch(epoch)) => Ok(epoch),
            Ok(_) => Err(RecordError::Unknown { episode }),
            Err(RecordError::Off) => Ok(before + 1),
            Err(error) => Err(error),
        }
    }

    /// The record of an episode.
    ///
    /// # Errors
    /// Where there is none, or it cannot be read.
    pub async fn load(&self, episode: EpisodeId) -> Result<Record, RecordError> {
        self.read(move |store| store.load(episode)).await
    }

    /// The epoch that owns an episode now.
    ///
    /// # Errors
    /// As [`Keeping::load`].
    pub async fn owner(&self, episode: EpisodeId) -> Result<u64, RecordError> {
        self.read(move |store| store.owner(episode)).await
    }

    /// The newest episode of a session.
    ///
    /// # Errors
    /// What is wrong with the store.
    pub async fn of_session(&self, session: String) -> Result<Option<EpisodeId>, RecordError> {
        self.read(move |store| store.of_session(&session)).await
    }

    /// The records that meet `filter`, newest first.
    ///
    /// # Errors
    /// What is wrong with the store.
    pub async fn list(&self, filter: Filter) -> Result<Vec<Summary>, RecordError> {
        self.read(move |store| store.list(&filter)).await
    }

    async fn read<T: Send + 'static>(
        &self,
        how: impl FnOnce(&dyn Store) -> Result<T, RecordError> + Send + 'static,
    ) -> Result<T, RecordError> {
        let store = self.store.clone();
        let read = tokio::task::spawn_blocking(move || how(&*store)).await;
        read.unwrap_or(Err(RecordError::Closed))
    }
}
