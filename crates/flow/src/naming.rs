//! Calls of those who do not get the right address for a name. Their caches give every attempt of a
//! call the same answer, so retries do not help them; and the callee never hears of them.

use crate::edge::ClassView;
use model::Resolution;

/// What such a call costs its caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stray {
    /// Attempts of a call that all fail.
    pub(crate) tries: f64,
    /// Time of an attempt that nobody answers, seconds.
    pub(crate) wait_s: f64,
    /// Mean wait before each attempt after the first, seconds.
    pub(crate) backoff_s: f64,
}

impl Stray {
    /// Puts such calls among those of the classes.
    pub(crate) fn spread(&self, names: Resolution, classes: &mut [ClassView]) {
        let pauses = (self.tries - 1.0) * self.backoff_s;
        // The two exclude each other: the first is a share of what the second leaves.
        let left = 1.0 - names.missing;
        let astray = if left > 1e-9 { (names.astray / left).min(1.0) } else { 0.0 };
        let lost_s = self.tries * self.wait_s + pauses;
        for (share, time_s) in [(astray, lost_s), (names.missing.min(1.0), pauses)] {
            if share > 0.0 {
                classes.iter_mut().for_each(|v| mix(v, share, self.tries, time_s));
            }
        }
    }
}

/// Lets `share` of the calls of a class fail for good, after `tries` attempts in `time_s`.
fn mix(v: &mut ClassView, share: f64, tries: f64, time_s: f64) {
    let found = 1.0 - share;
    let both = |known: f64, lost: f64| found * known + share * lost;
    let failed = both(v.failed, 1.0);
    let (known, lost) = (found * v.failed / failed, share / failed);
    let fail_s = known * v.fail_s + lost * time_s;
    let second = known * (v.fail_var + v.fail_s * v.fail_s) + lost * time_s * time_s;
    v.fail_var = (second - fail_s * fail_s).max(0.0);
    v.fail_s = fail_s;
    v.failed = failed;
    let known_first = found * v.first;
    v.later = (known_first * v.later + share) / (known_first + share);
    v.refusal *= known_first / (known_first + share);
    v.first = known_first + share;
    v.attempts = both(v.attempts, tries);
    v.per_call_s = both(v.per_call_s, time_s);
    v.outside_s = both(v.outside_s, time_s);
    v.reaching *= found;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calm() -> ClassView {
        ClassView {
            attempts: 1.1,
            reaching: 1.1,
            failed: 0.01,
            per_call_s: 0.02,
            ok_s: 0.02,
            fail_s: 0.04,
            first: 0.1,
            later: 0.1,
            ..ClassView::default()
        }
    }

    fn after(missing: f64, astray: f64) -> ClassView {
        let mut classes = [calm()];
        let cost = Stray { tries: 3.0, wait_s: 1.0, backoff_s: 0.1 };
        cost.spread(Resolution { missing, astray }, &mut classes);
        classes[0]
    }

    #[test]
    fn the_right_address_for_all_changes_no_bit() {
        assert_eq!(after(0.0, 0.0), calm());
    }

    #[test]
    fn a_lost_name_fails_at_once_and_a_wrong_one_after_all_time_outs() {
        let lost = after(0.35, 0.0);
        assert!((lost.failed - (0.35 + 0.65 * 0.01)).abs() < 1e-12, "{lost:?}");
        assert!((lost.reaching - 0.65 * 1.1).abs() < 1e-12, "retries do not reach it either");
        assert!((lost.per_call_s - (0.65 * 0.02 + 0.35 * 0.2)).abs() < 1e-12, "two pauses");
        let wrong = after(0.0, 0.35);
        assert!((wrong.failed - lost.failed).abs() < 1e-12);
        assert!((wrong.per_call_s - (0.65 * 0.02 + 0.35 * 3.2)).abs() < 1e-12, "three time-outs");
        assert!((wrong.ok_s - 0.02).abs() < 1e-12, "who finds it is served as before");
    }

    #[test]
    fn both_at_once_leave_the_rest() {
        let both = after(0.3, 0.7);
        assert!((both.failed - 1.0).abs() < 1e-12 && both.reaching.abs() < 1e-12, "{both:?}");
        assert!((both.first - 1.0).abs() < 1e-12 && (both.later - 1.0).abs() < 1e-12);
    }
}
