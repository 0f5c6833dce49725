//! Harm that was prevented after the agent had left, the recheck included.

use super::{Facts, minutes};
use episode::Term;

pub(super) fn term(facts: &Facts<'_>) -> Option<Term> {
    if facts.baselines.healthy {
        return None;
    }
    let noop = &facts.baselines.noop;
    let at_done = noop.get(facts.done as usize).copied().unwrap_or(0);
    let lost_noop = noop.last().copied().unwrap_or(0) - at_done;
    let lost = facts.impact - facts.impact_at_done;
    Some(Term {
        name: "tail".into(),
        value: (lost_noop - lost) as f64 / facts.baselines.d as f64,
        reason: format!(
            "after that, up to the end, users lost {} user-minutes, {} if nobody had acted: \
             {} saved",
            minutes(lost),
            minutes(lost_noop),
            minutes(lost_noop - lost)
        ),
    })
}
