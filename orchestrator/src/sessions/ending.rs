//! The end of an episode that an evaluation counts: handed off where it stands, and graded.

use super::{AGAIN, Seat, SessionError, Sessions, sleep};
use episode::{Baselines, ControlOrder, Grade, Judge};
use model::EpisodeId;
use record::Record;
use std::sync::Arc;
use tokio::sync::MutexGuard;

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
        self.confirmed(id, &mut seat).await?;
        self.abandon(id, &mut seat).await?;
        let live = self.wake(id, &mut seat).await?;
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

    /// The agent closed its session: an episode that still runs is abandoned, so that nobody goes
    /// on with it by the session's name, and it is forgotten here.
    pub async fn leave(&self, id: EpisodeId) {
        let slot = self.table.read().get(&id).cloned();
        if let Some(slot) = slot {
            let mut seat = slot.lock().await;
            let mine = match &*seat {
                Seat::Live(live) => self.house.store.owner(id).await.is_ok_and(|e| e == live.epoch),
                _ => false,
            };
            // Where nothing is kept, or somebody else plays it, there is nothing to end.
            if mine && let Err(error) = self.abandon(id, &mut seat).await {
                tracing::warn!(episode = %id, %error, "a session was closed, its episode goes on");
            }
        }
        self.forget(id).await;
    }

    /// Ends a live episode where it stands, and keeps that.
    async fn abandon(
        &self,
        id: EpisodeId,
        seat: &mut MutexGuard<'_, Seat>,
    ) -> Result<(), SessionError> {
        let Seat::Live(live) = &mut **seat else { return Ok(()) };
        if live.episode.ended().is_some() {
            return Ok(());
        }
        if let Err(error) = Box::pin(live.episode.control(&ControlOrder::Abandon)).await {
            sleep(seat);
            return Err(SessionError::failed(AGAIN, error));
        }
        self.keep(id, seat).await
    }
}
