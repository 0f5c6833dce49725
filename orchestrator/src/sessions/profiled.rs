//! Episodes of those who pay by a profile of rewards of their own: the judge is not asked.

use super::{SessionError, Sessions};
use action::Action;
use episode::Observation;
use model::EpisodeId;
use scenario::Scenario;
use std::sync::Arc;

impl Sessions {
    /// Begins an episode of this scenario, which need not be a task of this house.
    ///
    /// # Errors
    /// As [`Sessions::create`].
    pub async fn create_of(
        &self,
        scenario: Arc<Scenario>,
        seed: u64,
    ) -> Result<(EpisodeId, Observation), SessionError> {
        let begun = Box::pin(self.begin_with(scenario, Some(seed), None)).await;
        self.tally.begun(&begun);
        begun
    }

    /// Takes a step that pays nothing here.
    ///
    /// # Errors
    /// As [`Sessions::step`].
    #[tracing::instrument(name = "agent.step", skip_all, fields(episode = %id))]
    pub async fn act(&self, id: EpisodeId, action: &Action) -> Result<Observation, SessionError> {
        let acted = Box::pin(self.acted(id, action)).await;
        self.tally.stepped(&acted);
        acted
    }

    async fn acted(&self, id: EpisodeId, action: &Action) -> Result<Observation, SessionError> {
        let slot = self.slot(id).await?;
        let mut seat = slot.lock().await;
        let observation = Box::pin(self.advance(id, None, action, &mut seat)).await?;
        self.wake(id, &mut seat).await?.publish().await;
        Ok(observation)
    }
}
