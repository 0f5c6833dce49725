//! One episode that a session of a dialect plays: typed actions, waits, and looks at what its
//! components publish.

use super::Stage;
use super::health::{Health, Objective};
use crate::live::Live;
use crate::sessions::SessionError;
use action::Action;
use episode::observe::ActionResult;
use model::{Answer, EpisodeId, Query};
use serde_json::{Value, json};
use std::sync::Arc;

/// Longest single wait of the catalogue, seconds.
const WAIT_MAX: u32 = 600;

/// Why nothing can be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// There are as many sessions or episodes as there may be.
    #[error("{0}")]
    Full(String),
    /// Something outside the simulation failed.
    #[error("{0}")]
    Failed(String),
}

impl From<SessionError> for Trouble {
    fn from(error: SessionError) -> Trouble {
        match error {
            SessionError::Full(_) => Trouble::Full(error.to_string()),
            other => Trouble::Failed(other.to_string()),
        }
    }
}

/// An episode. Dropping it forgets it; its record stays.
#[derive(Debug)]
pub struct Play {
    stage: Arc<Stage>,
    id: EpisodeId,
}

impl Play {
    pub(super) fn new(stage: Arc<Stage>, id: EpisodeId) -> Play {
        Play { stage, id }
    }

    /// Its number, as records and the control port call it.
    pub fn id(&self) -> EpisodeId {
        self.id
    }

    /// Takes a typed action. What does not fit or is refused comes back as a result that is not
    /// `ok`, and has changed nothing.
    ///
    /// # Errors
    /// Where something outside the simulation fails.
    pub async fn act(&self, action: Value) -> Result<ActionResult, Trouble> {
        let name = action["action"].as_str().unwrap_or_default().to_string();
        let refused =
            |message: String| ActionResult { action: name.clone(), ok: false, message, data: None };
        let action = match Action::from_json(&action) {
            Ok(action) => action,
            Err(error) => return Ok(refused(error.to_string())),
        };
        match self.stage.sessions.act(self.id, &action).await {
            Ok(seen) => Ok(seen.result.unwrap_or_else(|| refused("there is no result".into()))),
            Err(SessionError::Wrong(sentence) | SessionError::NotNow(sentence)) => {
                Ok(refused(sentence))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Takes these actions one after another, and lets time pass until `seconds` have gone by in
    /// all: what was ordered has come to effect then.
    ///
    /// # Errors
    /// As [`Play::act`].
    pub async fn turn(
        &self,
        actions: Vec<Value>,
        seconds: u32,
    ) -> Result<Vec<ActionResult>, Trouble> {
        let until = self.look(|live| live.episode.tick()).await?.plus(i64::from(seconds));
        let mut results = Vec::new();
        for action in actions {
            results.push(self.act(action).await?);
        }
        let now = self.look(|live| live.episode.tick()).await?;
        let mut left = u32::try_from(until.since(now)).unwrap_or(0);
        while left > 0 {
            let wait = left.min(WAIT_MAX);
            self.act(json!({"action": "wait", "seconds": wait})).await?;
            left -= wait;
        }
        Ok(results)
    }

    /// Looks at the episode as it stands. This is for what monitoring publishes; the truth is no
    /// business of a dialect.
    ///
    /// # Errors
    /// As [`Play::act`].
    pub async fn look<T>(&self, see: impl FnOnce(&Live) -> T) -> Result<T, Trouble> {
        Ok(self.stage.sessions.look(self.id, see).await?)
    }

    /// What monitoring may show of a component, or what is seen on a host; it takes no time.
    ///
    /// # Errors
    /// As [`Play::act`].
    pub async fn ask(&self, component: &str, query: Query) -> Result<Answer, Trouble> {
        Ok(self.stage.sessions.ask(self.id, component, &query).await?)
    }

    /// The last published values of a component's signals; `None` where it has no such signal.
    ///
    /// # Errors
    /// As [`Play::act`].
    pub async fn signals<const N: usize>(
        &self,
        component: &str,
        names: [&str; N],
    ) -> Result<[Option<f64>; N], Trouble> {
        self.look(|live| {
            let of = live.episode.scenario().topology.instance(component);
            names.map(|name| live.episode.signal(of?, name))
        })
        .await
    }

    /// The computed health of these components, in their order.
    ///
    /// # Errors
    /// As [`Play::act`].
    pub async fn health(&self, objectives: &[Objective]) -> Result<Vec<Health>, Trouble> {
        self.look(|live| objectives.iter().map(|one| one.health(&live.episode)).collect()).await
    }

    /// Ends the incident, as far as it still goes on.
    ///
    /// # Errors
    /// As [`Play::act`].
    pub async fn resolve(&self) -> Result<(), Trouble> {
        self.act(json!({"action": "resolve"})).await.map(|_| ())
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        let (sessions, id) = (self.stage.sessions.clone(), self.id);
        self.stage.computing.spawn(async move { sessions.forget(id).await });
    }
}
