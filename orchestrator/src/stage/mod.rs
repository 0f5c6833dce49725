//! What dialects stand on: episodes of named scenarios, played by typed actions; sessions that do
//! not meet; the computed health of components; and the answers that the servers whose dialects
//! these are give when something is wrong. A dialect itself is a file of `dialects`.

pub mod caller;
pub mod health;
pub mod options;
pub mod pages;
pub mod play;
pub mod reply;
pub mod rooms;

pub use caller::Caller;
pub use health::{Health, Objective};
pub use pages::Endpoint;
pub use play::{Play, Trouble};
pub use reply::{Reader, Refused};
pub use rooms::{Room, Rooms};

use crate::sessions::Sessions;
use scenario::Scenario;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// How many sessions one dialect holds, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most sessions at once.
    pub rooms_max: usize,
    /// One without a request for this long makes room for others.
    pub idle: Duration,
}

/// Where a dialect plays: the scenarios it may begin, and the sessions that hold their episodes.
#[derive(Debug)]
pub struct Stage {
    sessions: Arc<Sessions>,
    scenarios: BTreeMap<String, Arc<Scenario>>,
    limits: Limits,
    computing: Handle,
    figures: bool,
}

impl Stage {
    /// With these scenarios; has to be called in the runtime that computes.
    pub fn new(
        sessions: Arc<Sessions>,
        scenarios: impl IntoIterator<Item = Arc<Scenario>>,
        limits: Limits,
    ) -> Stage {
        let scenarios = scenarios.into_iter().map(|one| (one.name.clone(), one)).collect();
        let computing = Handle::current();
        Stage { sessions, scenarios, limits, computing, figures: true }
    }

    /// The same without calibrated figures: a test holds the two against each other, since no
    /// status, reward or end may depend on a figure that is only shown.
    #[must_use]
    pub fn without_figures(self) -> Stage {
        Stage { figures: false, ..self }
    }

    /// Whether figures are shown from calibration tables; else they are all zero.
    pub fn figures(&self) -> bool {
        self.figures
    }

    /// Begins an episode of the scenario called `family/stem`, at the page.
    ///
    /// # Errors
    /// Where there is no room, or something outside the simulation fails.
    pub async fn begin(self: &Arc<Self>, scenario: &str, seed: u64) -> Result<Play, Trouble> {
        let Some(found) = self.scenarios.get(scenario).cloned() else {
            let sentence = format!("the library has no scenario {scenario}: see --library");
            return Err(Trouble::Failed(sentence));
        };
        let (id, _) = self.sessions.create_of(found, seed).await?;
        Ok(Play::new(self.clone(), id))
    }

    /// Computes to the end, whether or not anybody still waits for it; `None` after a defect.
    pub async fn compute<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.computing.spawn(work).await.ok()
    }
}
