//! The caches of those who ask for one name, as shares of them. A cache keeps an answer for its
//! time to live and asks again when it runs out; ages are spread evenly, so that after a change
//! 1 − e^(−t/TTL) of the callers have the new answer.

use model::Resolution;
use serde::{Deserialize, Serialize};

/// A cache that got no answer asks again after this long, on average, seconds.
const NO_ANSWER_S: f64 = 5.0;
/// Less than this share of the callers is nobody.
const NOBODY: f64 = 1e-6;

/// What the zone says of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Entry {
    /// The address of its component.
    #[default]
    Right,
    /// Nothing.
    Missing,
    /// An address where nobody answers.
    Wrong,
}

/// Shares of the callers of a name; they sum to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Caches {
    right: f64,
    wrong: f64,
    /// They know that the name does not exist.
    missing: f64,
    /// Their last lookup failed.
    unanswered: f64,
    /// They ask in this round.
    asking: f64,
}

impl Default for Caches {
    fn default() -> Self {
        Caches { right: 1.0, wrong: 0.0, missing: 0.0, unanswered: 0.0, asking: 0.0 }
    }
}

/// How long caches keep answers, seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    pub(crate) ttl_s: f64,
    /// ... the answer that a name does not exist.
    pub(crate) negative_s: f64,
}

impl Caches {
    /// Who asked in the last round gets what the zone says now; `failed` of the lookups failed.
    pub(crate) fn settle(&mut self, entry: Entry, failed: f64) {
        let answered = self.asking * (1.0 - failed);
        self.unanswered += self.asking * failed;
        self.asking = 0.0;
        match entry {
            Entry::Right => self.right += answered,
            Entry::Wrong => self.wrong += answered,
            Entry::Missing => self.missing += answered,
        }
        self.tidy();
    }

    /// Lets answers run out for `dt_s`; the share of the callers that ask in this round.
    pub(crate) fn expire(&mut self, keep: Keep, dt_s: f64) -> f64 {
        let over = |share: &mut f64, life_s: f64| {
            let gone = *share * (1.0 - libm::exp(-dt_s / life_s.max(1e-3)));
            *share -= gone;
            gone
        };
        self.asking += over(&mut self.right, keep.ttl_s)
            + over(&mut self.wrong, keep.ttl_s)
            + over(&mut self.missing, keep.negative_s)
            + over(&mut self.unanswered, NO_ANSWER_S);
        self.asking
    }

    /// Empties all caches: everybody asks in this round.
    pub(crate) fn flush(&mut self) -> f64 {
        *self = Caches { right: 0.0, wrong: 0.0, missing: 0.0, unanswered: 0.0, asking: 1.0 };
        self.asking
    }

    /// What callers get. Who asks in this round counts as what its old answer was, so this is asked
    /// between [`Caches::settle`] and the other two.
    pub(crate) fn resolution(&self) -> Resolution {
        Resolution {
            missing: (self.missing + self.unanswered).clamp(0.0, 1.0),
            astray: self.wrong.clamp(0.0, 1.0),
        }
    }

    /// The tail of an exponential helps nobody, and keeps the world from coming to rest.
    fn tidy(&mut self) {
        let shares = [&mut self.right, &mut self.wrong, &mut self.missing, &mut self.unanswered];
        let mut sum = 0.0;
        for share in shares {
            if *share < NOBODY {
                *share = 0.0;
            }
            sum += *share;
        }
        if sum > 0.0 {
            for share in [&mut self.right, &mut self.wrong, &mut self.missing, &mut self.unanswered]
            {
                *share /= sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: Keep = Keep { ttl_s: 100.0, negative_s: 20.0 };

    /// `seconds` of one name; the lookups of its callers, as multiples of them.
    fn play(caches: &mut Caches, seconds: u32, entry: Entry, failed: f64) -> f64 {
        let mut lookups = 0.0;
        for _ in 0..seconds {
            caches.settle(entry, failed);
            lookups += caches.expire(KEEP, 1.0);
        }
        caches.settle(entry, failed);
        lookups
    }

    #[test]
    fn a_change_reaches_callers_as_their_caches_run_out() {
        for (entry, of) in [(Entry::Missing, 0), (Entry::Wrong, 1)] {
            let mut caches = Caches::default();
            for (after, expected) in [(30_u32, 0.2592), (100, 0.6321), (300, 0.9502)] {
                let mut caches = caches;
                play(&mut caches, after, entry, 0.0);
                let got = caches.resolution();
                let share = [got.missing, got.astray][of];
                assert!((share - expected).abs() < 0.005, "{entry:?} after {after}: {got:?}");
                assert_eq!([got.astray, got.missing][of], 0.0);
            }
            // Back again: a negative answer is kept for a shorter time.
            play(&mut caches, 2000, entry, 0.0);
            play(&mut caches, 20, Entry::Right, 0.0);
            let left = caches.resolution().missing + caches.resolution().astray;
            let expected = if of == 0 { 0.3679 } else { 0.8187 };
            assert!((left - expected).abs() < 0.005, "{entry:?}: {left}");
        }
    }

    #[test]
    fn a_flush_brings_the_present_entry_to_everybody_and_asks_for_all_at_once() {
        let mut caches = Caches::default();
        play(&mut caches, 5, Entry::Right, 0.0);
        assert_eq!(caches.flush(), 1.0);
        caches.settle(Entry::Missing, 0.0);
        assert_eq!(caches.resolution(), Resolution { missing: 1.0, astray: 0.0 });
        caches.flush();
        caches.settle(Entry::Right, 0.25);
        let got = caches.resolution().missing;
        assert!((got - 0.25).abs() < 1e-12, "a quarter of the lookups failed: {got}");
        play(&mut caches, 70, Entry::Right, 0.0);
        assert_eq!(caches.resolution(), Resolution::RIGHT);
    }

    #[test]
    fn a_resolver_that_answers_nobody_is_missed_as_answers_run_out() {
        let mut caches = Caches::default();
        play(&mut caches, 100, Entry::Right, 1.0);
        let got = caches.resolution().missing;
        assert!((got - 0.61).abs() < 0.03, "{got}");
        let asked = play(&mut caches, 100, Entry::Right, 1.0);
        assert!(asked > 10.0, "who has no answer asks again and again: {asked}");
    }

    #[test]
    fn nothing_moves_while_nothing_happens() {
        let mut caches = Caches::default();
        play(&mut caches, 3, Entry::Right, 0.0);
        let before = caches;
        play(&mut caches, 50, Entry::Right, 0.0);
        assert_eq!(caches, before);
    }
}
