//! A score lies between 0 and 1: harming costs no more than all, beating the reference earns no
//! more than all.

use super::Facts;
use episode::Term;
use model::decimals;

pub(super) fn term(facts: &Facts<'_>) -> Option<Term> {
    let bounded = facts.so_far.clamp(0.0, 1.0);
    let value = bounded - facts.so_far;
    (value != 0.0).then(|| Term {
        name: "bounds".into(),
        value,
        reason: format!(
            "a score of {} is brought to {}",
            decimals(facts.so_far, 3),
            decimals(bounded, 0)
        ),
    })
}
