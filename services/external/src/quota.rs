//! A quota as a token bucket: so many calls per second, some more at once, the rest is refused.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Quota {
    /// Calls that may be made at once, left over from quieter times.
    tokens: f64,
}

/// The terms of a contract.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Terms {
    /// Calls per second.
    pub(crate) rate: f64,
    /// Seconds of the rate that may be saved up.
    pub(crate) burst_s: f64,
    /// Part of a call that a refused one counts as, 0..1: who asks too much gets less.
    pub(crate) refused_cost: f64,
}

impl Quota {
    /// A bucket that is full.
    pub(crate) fn full(terms: Terms) -> Quota {
        Quota { tokens: terms.rate * terms.burst_s }
    }

    /// Share of `offered` calls per second that is refused in a round of `delta_s` seconds. Over
    /// the limit, those allowed and the part that the refused cost make up the rate.
    pub(crate) fn round(&mut self, offered: f64, terms: Terms, delta_s: f64) -> f64 {
        let most = terms.rate + self.tokens / delta_s;
        let cost = terms.refused_cost.min(0.99);
        let allowed = if offered <= most {
            offered
        } else {
            ((most - cost * offered) / (1.0 - cost)).clamp(0.0, most)
        };
        let spent = allowed + cost * (offered - allowed);
        let saved = self.tokens + (terms.rate - spent) * delta_s;
        self.tokens = saved.clamp(0.0, terms.rate * terms.burst_s);
        if offered > 1e-9 { (1.0 - allowed / offered).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms { rate: 100.0, burst_s: 2.0, refused_cost: 0.0 };

    #[test]
    fn what_was_saved_passes_once_and_then_a_flat_ceiling_holds() {
        let mut quota = Quota::full(TERMS);
        let refused: Vec<_> = (0..4).map(|_| quota.round(200.0, TERMS, 1.0)).collect();
        assert_eq!(refused, [0.0, 0.0, 0.5, 0.5]);
        assert_eq!(quota.round(50.0, TERMS, 1.0), 0.0);
        assert_eq!(quota.round(150.0, TERMS, 1.0), 0.0, "fifty were saved");
        assert_eq!(quota.round(0.0, TERMS, 1.0), 0.0);
    }

    #[test]
    fn refused_calls_cost_those_that_would_pass() {
        let terms = Terms { refused_cost: 0.2, burst_s: 0.0, ..TERMS };
        for (offered, allowed) in [(100.0, 100.0), (200.0, 75.0), (500.0, 0.0), (900.0, 0.0)] {
            let mut quota = Quota::full(terms);
            let refused = quota.round(offered, terms, 0.25);
            assert!(((1.0 - refused) * offered - allowed).abs() < 1e-9, "{offered}: {refused}");
        }
    }
}
