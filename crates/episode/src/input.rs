//! External inputs as they stand in a record: the agent's actions and the control port's orders,
//! each as canonical JSON.

use crate::error::EpisodeError;
use action::Action;
use model::{InstanceId, LeverPull};
use record::{Actor, Input};
use serde::{Deserialize, Serialize};

/// What the control port may do to an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlOrder {
    /// Pulls levers.
    Inject(Vec<LeverPull>),
    /// Lets go of a lever.
    Clear {
        /// Whose.
        target: InstanceId,
        /// Which pull.
        id: u64,
    },
    /// Lets time pass without an action of the agent.
    Advance {
        /// Simulated seconds.
        ticks: u32,
    },
    /// The agent will not come back: the episode is over where it stands.
    Abandon,
}

impl ControlOrder {
    /// Whether it changes what happens, so that other worlds of the same record get it too. Time
    /// passes in all of them by itself, and each ends in its own way.
    pub fn is_of_the_world(&self) -> bool {
        match self {
            ControlOrder::Inject(_) | ControlOrder::Clear { .. } => true,
            ControlOrder::Advance { .. } | ControlOrder::Abandon => false,
        }
    }
}

/// One input.
#[derive(Clone, Debug, PartialEq)]
pub enum External {
    /// The agent's.
    Action(Action),
    /// The control port's.
    Control(ControlOrder),
}

impl External {
    /// Who gives it.
    pub fn actor(&self) -> Actor {
        match self {
            External::Action(_) => Actor::Agent,
            External::Control(_) => Actor::Control,
        }
    }

    /// Its canonical JSON.
    pub(crate) fn body(&self) -> Result<String, EpisodeError> {
        let unfit = |error: serde_json::Error| EpisodeError::Unfit(error.to_string());
        match self {
            External::Action(action) => Ok(action.to_string()),
            External::Control(order) => {
                let value = serde_json::to_value(order).map_err(unfit)?;
                Ok(action::json::canonical(&value))
            }
        }
    }

    /// Reads an input of a record.
    ///
    /// # Errors
    /// Where its body is not of this build.
    pub fn of(input: &Input) -> Result<External, EpisodeError> {
        let unfit = |error: String| EpisodeError::Unfit(format!("input {}: {error}", input.seq));
        match input.actor {
            Actor::Agent => Action::parse(&input.body)
                .map(External::Action)
                .map_err(|error| unfit(error.to_string())),
            Actor::Control => serde_json::from_str(&input.body)
                .map(External::Control)
                .map_err(|error| unfit(error.to_string())),
        }
    }
}
