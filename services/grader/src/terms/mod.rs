//! The list of grading terms, in the order in which they explain a score: one file and one line
//! each. Their values add up to the score. A term sees facts and changes nothing.

mod agent_phase;
mod bounds;
mod restraint;
mod tail;

use episode::{Baselines, Term};
use model::Inspection;

/// Everything a term may look at.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The worlds to compare with.
    pub baselines: &'a Baselines,
    /// Impact before the first tick after the agent's last step, micro-user-minutes.
    pub impact_at_done: i64,
    /// That tick.
    pub done: i64,
    /// Impact at the end of the tail, micro-user-minutes.
    pub impact: i64,
    /// The truth at done.
    pub at_done: &'a [Inspection],
    /// The truth at the end of the tail.
    pub at_end: &'a [Inspection],
    /// Sum of the terms so far.
    pub so_far: f64,
}

/// All terms.
pub const TERMS: &[fn(&Facts<'_>) -> Option<Term>] =
    &[agent_phase::term, tail::term, restraint::term, bounds::term];

/// The terms that apply, in order.
pub fn explain(facts: Facts<'_>) -> Vec<Term> {
    let mut facts = facts;
    let mut terms = Vec::new();
    for make in TERMS {
        if let Some(term) = make(&facts) {
            facts.so_far += term.value;
            terms.push(term);
        }
    }
    terms
}

/// Micro-user-minutes as user-minutes, for people.
fn minutes(micro: i64) -> String {
    model::decimals(micro as f64 / episode::MICRO, 2)
}
