//! Harm that the agent prevented while it was there.

use super::{Facts, minutes};
use episode::Term;

pub(super) fn term(facts: &Facts<'_>) -> Option<Term> {
    if facts.baselines.healthy {
        return None;
    }
    let noop = facts.baselines.noop.get(facts.done as usize).copied().unwrap_or(0);
    let saved = noop - facts.impact_at_done;
    Some(Term {
        name: "agent_phase".into(),
        value: saved as f64 / facts.baselines.d as f64,
        reason: format!(
            "until {} s users lost {} user-minutes, {} if nobody had acted: {} saved of a \
             stake of {}",
            facts.done,
            minutes(facts.impact_at_done),
            minutes(noop),
            minutes(saved),
            minutes(facts.baselines.d)
        ),
    })
}
