//! What a step is worth. `episode` only subtracts: the baselines and the grade come through
//! [`Judge`], which the grader implements in this process and over gRPC.

use crate::error::EpisodeError;
use crate::handover::Handover;
use record::Record;
use scenario::Scenario;
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::sync::Arc;

/// Cumulative impact of two other worlds of the same scenario, seed and control inputs, per tick
/// from 0 to the end, micro-user-minutes: element t is the impact before tick t.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baselines {
    /// Nobody does anything.
    pub noop: Vec<i64>,
    /// The reference plan is followed.
    pub reference: Vec<i64>,
    /// Harm that counts as the whole of the score, micro-user-minutes, > 0.
    pub d: i64,
    /// Nothing is broken.
    pub healthy: bool,
}

impl Baselines {
    /// The running score before tick `tick` of a world with this impact, 0..=1; 0 throughout where
    /// nothing is broken, since there is nothing to save.
    pub fn running(&self, tick: i64, impact: i64) -> f64 {
        if self.healthy {
            return 0.0;
        }
        let at = (tick.max(0) as usize).min(self.noop.len().saturating_sub(1));
        let noop = self.noop.get(at).copied().unwrap_or(0);
        ((noop - impact) as f64 / self.d.max(1) as f64).clamp(0.0, 1.0)
    }
}

/// One term of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Its name.
    pub name: String,
    /// What it adds to the score.
    pub value: f64,
    /// One sentence with the numbers it was made from.
    pub reason: String,
}

/// The verdict on an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// Sum of the terms, 0..=1.
    pub score: f64,
    /// What it is made of.
    pub terms: Vec<Term>,
    /// Impact at the end of the tail, user-minutes: of the agent, of nobody, of the reference.
    pub impact: f64,
    /// Of nobody.
    pub impact_noop: f64,
    /// Of the reference.
    pub impact_reference: f64,
    /// Harm that counts as the whole of the score, user-minutes.
    pub stake: f64,
    /// Every objective held in the hold window at the end of the tail.
    pub slo_held: bool,
}

/// Says what worlds are worth.
pub trait Judge: Send + Sync {
    /// The baselines of the record's scenario, seed and control inputs so far.
    fn baselines(
        &self,
        scenario: &Scenario,
        record: &Record,
    ) -> impl Future<Output = Result<Arc<Baselines>, EpisodeError>> + Send;

    /// The grade of an episode that is over.
    fn grade(
        &self,
        handover: &Handover,
    ) -> impl Future<Output = Result<Grade, EpisodeError>> + Send;
}
