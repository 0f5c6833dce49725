//! The judge of a process: in it, or a grader elsewhere.

use crate::body::{Body, token};
use crate::failure::Failure;
use episode::{AllKinds, Baselines, EpisodeError, Grade, Handover, Judge};
use grader::{LocalJudge, RemoteJudge};
use record::Record;
use scenario::Scenario;
use std::sync::Arc;

/// Either judge.
#[derive(Debug)]
pub enum AnyJudge {
    /// In this process.
    Local(LocalJudge),
    /// Elsewhere.
    Remote(Box<RemoteJudge>),
}

impl AnyJudge {
    /// The grader at `address`, or one in this process. A grader elsewhere asks the components of
    /// `body` itself.
    ///
    /// # Errors
    /// Where the address is not one.
    pub fn new(address: Option<&str>, body: &Body) -> Result<AnyJudge, Failure> {
        let kinds: AllKinds = fleet::kinds();
        let Some(address) = address else { return Ok(AnyJudge::Local(LocalJudge::new(kinds))) };
        let components = match body {
            Body::Embedded => Default::default(),
            Body::Remote { addresses, .. } => addresses.clone(),
        };
        let judge = RemoteJudge::new(address, token()?.as_ref(), components);
        let wrong = |error| Failure::usage(format!("--grader: {error}"));
        judge.map(|judge| AnyJudge::Remote(Box::new(judge))).map_err(wrong)
    }
}

impl Judge for AnyJudge {
    async fn baselines(
        &self,
        scenario: &Scenario,
        record: &Record,
    ) -> Result<Arc<Baselines>, EpisodeError> {
        match self {
            AnyJudge::Local(judge) => judge.baselines(scenario, record).await,
            AnyJudge::Remote(judge) => judge.baselines(scenario, record).await,
        }
    }

    async fn grade(&self, handover: &Handover) -> Result<Grade, EpisodeError> {
        match self {
            AnyJudge::Local(judge) => judge.grade(handover).await,
            AnyJudge::Remote(judge) => judge.grade(handover).await,
        }
    }
}
