//! The store that keeps nothing: episodes are played, and cannot be resumed or replayed.

use crate::error::RecordError;
use crate::record::Record;
use crate::store::{Answer, Filter, Store, Summary, Write, Written};
use model::EpisodeId;

/// Accepts every write and forgets it.
#[derive(Clone, Copy, Debug, Default)]
pub struct OffStore;

impl Store for OffStore {
    fn submit(&self, write: Write, answer: Answer) {
        answer(match write {
            // There is nothing to resume from, so nobody may believe to have taken it over.
            Write::Claim { .. } => Err(RecordError::Off),
            Write::Prune(_) => Ok(Written::Pruned(0)),
            Write::Create { .. } | Write::Append { .. } | Write::SetScore { .. } => {
                Ok(Written::Done)
            }
        });
    }

    fn load(&self, _: EpisodeId) -> Result<Record, RecordError> {
        Err(RecordError::Off)
    }

    fn owner(&self, _: EpisodeId) -> Result<u64, RecordError> {
        Err(RecordError::Off)
    }

    fn of_session(&self, _: &str) -> Result<Option<EpisodeId>, RecordError> {
        Ok(None)
    }

    fn list(&self, _: &Filter) -> Result<Vec<Summary>, RecordError> {
        Ok(Vec::new())
    }
}
