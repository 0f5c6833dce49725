//! Episodes of those who pay by a profile of rewards of their own: the judge is not asked.

use super::{AGAIN, SessionError, Sessions, sleep};
use action::Action;
use episode::Observation;
use model::{Answer, EpisodeId, Query};
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

    /// What monitoring may show of the component of this name, or what is seen on the host; it
    /// takes no time.
    ///
    /// # Errors
    /// Where there is none, or as [`Sessions::step`].
    pub async fn ask(
        &self,
        id: EpisodeId,
        component: &str,
        query: &Query,
    ) -> Result<Answer, SessionError> {
        let slot = self.slot(id).await?;
        let mut seat = slot.lock().await;
        let live = self.confirmed(id, &mut seat).await?;
        let Some(of) = live.episode.scenario().topology.instance(component) else {
            return Err(SessionError::Wrong(format!("component: there is no {component}")));
        };
        match Box::pin(live.episode.ask(of, query)).await {
            Ok(answer) => Ok(answer),
            Err(error) => {
                sleep(&mut seat);
                Err(SessionError::failed(AGAIN, error))
            }
        }
    }

    async fn acted(&self, id: EpisodeId, action: &Action) -> Result<Observation, SessionError> {
        let slot = self.slot(id).await?;
        let mut seat = slot.lock().await;
        let observation = Box::pin(self.advance(id, None, action, &mut seat)).await?;
        self.wake(id, &mut seat).await?.publish().await;
        Ok(observation)
    }
}
