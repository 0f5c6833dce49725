//! The end of an episode that an evaluation counts: handed off where it stands, and graded.

use super::{AGAIN, SessionError, Sessions, sleep};
use episode::{Baselines, ControlOrder, Grade, Judge};
use model::EpisodeId;
use record::Record;
use std::sync::Arc;

/// An episode that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct HandedOff {
    /// All that happened.
    pub record: Record,
    /// Its grade.
    pub grade: Grade,
    /// What it was measured by.
    pub baselines: Arc<Baselines>,
}

impl Sessions {
    /// The grade of an episode, which is abandoned where it is not over.
    ///
    /// # Errors
    /// For an unknown episode, or a failure outside the simulation.
    pub async fn hand_off(&self, id: EpisodeId) -> Result<HandedOff, SessionError> {
        let slot = self.slot(id).await?;
        let mut seat = slot.lock().await;
        let mut live = self.confirmed(id, &mut seat).await?;
        if live.episode.ended().is_none() {
            if let Err(error) = Box::pin(live.episode.control(&ControlOrder::Abandon)).await {
                sleep(&mut seat);
                return Err(SessionError::failed(AGAIN, error));
            }
            self.keep(id, &mut seat).await?;
            live = self.wake(id, &mut seat).await?;
        }
        let known = live.known_grade().is_some();
        let graded = Box::pin(live.grade(&self.house.judge)).await;
        let grade = graded.map_err(|error| SessionError::failed(AGAIN, error))?.cloned();
        let grade =
            grade.ok_or_else(|| SessionError::failed(AGAIN, "it is over without a grade"))?;
        if !known {
            self.keep_score(id, live).await;
        }
        let (scenario, record) = (live.episode.scenario().clone(), live.episode.record().clone());
        drop(seat);
        let baselines = Box::pin(self.house.judge.baselines(&scenario, &record)).await;
        let baselines = baselines.map_err(|error| SessionError::failed(AGAIN, error))?;
        Ok(HandedOff { record, grade, baselines })
    }
}
