//! Latency by its mean and variance: time-outs, time spent, quantiles, draws.
//!
//! The law is a gamma with these two moments through the Wilson–Hilferty cube root; only the mean
//! of a truncated latency takes the normal. Times in seconds, variances in s².

use crate::normal;
use libm::cbrt;

/// A time-out at or above this many seconds is none.
pub const FOREVER: f64 = 1e9;

/// P(latency > `timeout`), 0–1 (gamma, Wilson–Hilferty).
#[inline]
pub fn timeout_prob(mean: f64, var: f64, timeout: f64) -> f64 {
    if timeout >= FOREVER || mean <= 0.0 {
        return 0.0;
    }
    if timeout <= 0.0 {
        return 1.0;
    }
    let var = var.max(MIN_VAR);
    // Most edges are far from their time-out. Below it a gamma falls like an exponential of scale
    // var/mean, hence the second term: what is skipped is under 1e−9, not a visible error rate.
    let far = timeout - mean - 15.0 * var / mean;
    if far > 0.0 && far * far > 36.0 * var {
        return 0.0;
    }
    let short = mean - timeout;
    if short > 0.0 && short * short > 36.0 * var {
        return 1.0;
    }
    let k9 = 9.0 * mean * mean / var;
    normal::tail((cbrt(timeout / mean) - 1.0 + 1.0 / k9) * k9.sqrt())
}

const MIN_VAR: f64 = 1e-14;

/// E min(`timeout`, latency): the time a caller spends on an accepted attempt (normal law, kept
/// above 0.3·min(mean, timeout) because the normal has no business below 0).
#[inline]
pub fn truncated_mean(mean: f64, var: f64, timeout: f64) -> f64 {
    let var = var.max(MIN_VAR);
    let gap = timeout - mean;
    if gap * gap > 36.0 * var {
        return mean.min(timeout);
    }
    let sd = var.sqrt();
    let (over, _) = normal::excess(gap / sd);
    (mean - sd * over).max(0.3 * mean.min(timeout))
}

/// The latency at the normal score `z` (0 median, 1.645 p95, 2.326 p99); gamma, Wilson–Hilferty.
pub fn quantile(mean: f64, var: f64, z: f64) -> f64 {
    let k9 = 9.0 * mean * mean / var.max(MIN_VAR);
    if k9 <= 0.0 {
        return 0.0;
    }
    let root = (1.0 - 1.0 / k9 + z / k9.sqrt()).max(0.0);
    mean * root * root * root
}

/// The latency of one request from a uniform number in (0, 1): the law of [`timeout_prob`].
pub fn latency_draw(mean: f64, var: f64, u01: f64) -> f64 {
    quantile(mean, var, normal::tail_inverse(1.0 - u01))
}

/// As [`latency_draw`] for a request that is known to have ended within `limit`.
pub fn latency_draw_within(mean: f64, var: f64, limit: f64, u01: f64) -> f64 {
    let inside = 1.0 - timeout_prob(mean, var, limit);
    latency_draw(mean, var, u01 * inside).min(limit)
}

/// Share that ends within `objective` seconds of something with this latency.
pub fn within(mean: f64, var: f64, objective: f64) -> f64 {
    1.0 - timeout_prob(mean, var, objective)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponential_latency_times_out_like_one() {
        for ratio in [0.5, 1.0, 2.0, 3.0, 5.0, 8.0] {
            let got = timeout_prob(0.02, 0.0004, 0.02 * ratio);
            assert!((got - libm::exp(-ratio)).abs() < 0.006, "{ratio}: {got}");
        }
        assert!(timeout_prob(0.02, 0.0004, 0.14) > 5e-4, "e^-7 is a visible error rate");
        assert_eq!(timeout_prob(0.02, 0.0004, 0.6), 0.0);
    }

    #[test]
    fn early_outs_join_the_formula() {
        for var in [1e-8, 1e-6, 1e-4] {
            let mut last = 1.0;
            for i in 1..4000 {
                let p = timeout_prob(0.02, var, f64::from(i) * 1e-4);
                assert!(p <= last + 1e-12, "monotone at {i}");
                last = p;
            }
            assert_eq!(last, 0.0);
        }
    }

    #[test]
    fn time_spent_lies_below_mean_and_time_out() {
        for timeout in [0.001, 0.01, 0.05, 0.1, 1.0] {
            let t = truncated_mean(0.05, 0.0004, timeout);
            assert!(t <= timeout.min(0.05) + 1e-12 && t > 0.0, "{timeout}: {t}");
        }
        assert_eq!(truncated_mean(0.05, 0.0004, f64::INFINITY), 0.05);
        // A normal of mean 50 ms and sd 20 ms cut at its mean loses sd·0.3989.
        assert!((truncated_mean(0.05, 0.0004, 0.05) - (0.05 - 0.02 * 0.398_94)).abs() < 1e-6);
    }

    #[test]
    fn draws_follow_the_time_out_share() {
        let (mean, var, timeout) = (0.03, 0.0005, 0.06);
        let n = 20_000;
        let draw = |i: usize| latency_draw(mean, var, (i as f64 + 0.5) / n as f64);
        let late = (0..n).filter(|i| draw(*i) > timeout).count() as f64 / n as f64;
        assert!((late - timeout_prob(mean, var, timeout)).abs() < 1e-4, "{late}");
        let average = (0..n).map(draw).sum::<f64>() / n as f64;
        assert!((average / mean - 1.0).abs() < 0.01, "{average}");
        assert!((0..n).all(|i| {
            latency_draw_within(mean, var, timeout, (i as f64 + 0.5) / n as f64) <= timeout
        }));
    }
}
