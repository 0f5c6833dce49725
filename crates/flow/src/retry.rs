//! Retries: how many attempts a call makes, how many calls fail, and the retry budget.

/// Attempts per call and failed share of calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempts {
    /// Mean attempts per call, 1..=1 + retries.
    pub mean: f64,
    /// Share of calls whose last attempt failed, 0–1.
    pub failed: f64,
}

/// First attempts fail with `first`, later ones with `later`; at most `retries` more attempts,
/// each granted with probability `grant`. A fractional `retries` is a mixture of its neighbors.
#[inline]
pub fn attempts(first: f64, later: f64, retries: f64, grant: f64) -> Attempts {
    if first < 1e-9 || retries <= 0.0 {
        return Attempts { mean: 1.0, failed: first };
    }
    let tries = geometric_sum(grant * later, retries);
    let ok = (1.0 - first) + grant * first * (1.0 - later) * tries;
    Attempts { mean: 1.0 + grant * first * tries, failed: (1.0 - ok).max(0.0) }
}

/// Σ a^j for j below `n`, linear between whole `n`; whole powers by multiplication.
fn geometric_sum(a: f64, n: f64) -> f64 {
    let whole = n.floor();
    let power = power(a, whole as u32);
    let sum = if a > 1.0 - 1e-9 { whole } else { (1.0 - power) / (1.0 - a) };
    sum + (n - whole) * power
}

/// a^n by squaring.
fn power(mut a: f64, mut n: u32) -> f64 {
    let mut out = 1.0;
    while n > 0 {
        if n & 1 == 1 {
            out *= a;
        }
        a *= a;
        n >>= 1;
    }
    out
}

/// Failure of first and of later attempts whose mean over all attempts is `mean`, when a failure
/// repeats with the extra share `boost` (a retry meets the same full queue). False position with
/// at most eight steps.
pub fn first_failure(mean: f64, boost: f64, retries: f64) -> (f64, f64) {
    if boost < 1e-6 || retries <= 0.0 || mean < 1e-9 {
        return (mean, mean);
    }
    let later = |first: f64| first + (1.0 - first) * boost;
    let gap = |first: f64| {
        let a = attempts(first, later(first), retries, 1.0);
        1.0 - a.failed - a.mean * (1.0 - mean)
    };
    let at_mean = gap(mean);
    let first = if at_mean >= 0.0 { mean } else { root((0.0, mean), (mean, at_mean), gap) };
    (first, later(first))
}

/// Calls of one class that share a retry budget.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Calls started per second.
    pub calls: f64,
    /// Failure of first attempts.
    pub first: f64,
    /// Failure of later attempts.
    pub later: f64,
}

/// Share of the wanted retries that a token bucket grants during `dt_s`, and the tokens left.
///
/// `tokens` holds at most `cap`; every successful call brings `ratio`, every retry costs one.
pub fn grant(
    wanted: &[Wanted],
    retries: f64,
    dt_s: f64,
    ratio: f64,
    tokens: f64,
    cap: f64,
) -> (f64, f64) {
    let spare = |g: f64| {
        let mut flow = 0.0;
        for w in wanted {
            let a = attempts(w.first, w.later, retries, g);
            flow += w.calls * (ratio * (1.0 - a.failed) - (a.mean - 1.0));
        }
        tokens + flow * dt_s
    };
    let all = spare(1.0);
    if all >= 0.0 {
        return (1.0, all.min(cap));
    }
    let none = spare(0.0);
    if none <= 0.0 {
        return (0.0, none.clamp(0.0, cap));
    }
    let g = root((0.0, none), (1.0, all), spare);
    (g, spare(g).clamp(0.0, cap))
}

/// Root of a falling function between a point with positive and one with negative value
/// (Illinois rule, at most eight evaluations).
fn root(low: (f64, f64), high: (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
    let ((mut lo, mut at_lo), (mut hi, mut at_hi)) = (low, high);
    let scale = at_lo - at_hi;
    let (mut x, mut side) = (lo, 0);
    for _ in 0..8 {
        x = lo + at_lo * (hi - lo) / (at_lo - at_hi);
        let at_x = f(x);
        if at_x.abs() < 1e-9 * scale {
            break;
        }
        if at_x > 0.0 {
            (lo, at_lo) = (x, at_x);
            if side == 1 {
                at_hi /= 2.0;
            }
            side = 1;
        } else {
            (hi, at_hi) = (x, at_x);
            if side == -1 {
                at_lo /= 2.0;
            }
            side = -1;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_follow_the_textbook() {
        let a = attempts(0.5, 0.5, 3.0, 1.0);
        assert!((a.mean - 1.875).abs() < 1e-12 && (a.failed - 0.0625).abs() < 1e-12);
        let dead = attempts(1.0, 1.0, 3.0, 1.0);
        assert!((dead.mean - 4.0).abs() < 1e-12 && dead.failed == 1.0);
        let half = attempts(0.5, 0.5, 0.5, 1.0);
        assert!((half.mean - 1.25).abs() < 1e-12 && (half.failed - 0.375).abs() < 1e-12);
        assert_eq!(attempts(0.0, 0.0, 3.0, 1.0).mean, 1.0);
    }

    #[test]
    fn the_split_keeps_the_mean() {
        for mean in [0.01, 0.2, 0.5, 0.9, 0.999] {
            for boost in [0.05, 0.3, 0.7, 0.95] {
                for retries in [1.0, 3.0, 6.0] {
                    let (first, later) = first_failure(mean, boost, retries);
                    let a = attempts(first, later, retries, 1.0);
                    let back = 1.0 - (1.0 - a.failed) / a.mean;
                    assert!((back - mean).abs() < 1e-4, "{mean} {boost} {retries}: {back}");
                    assert!(first <= mean && later >= first);
                }
            }
        }
    }

    #[test]
    fn a_budget_of_a_tenth_bounds_attempts() {
        let bad = [Wanted { calls: 1000.0, first: 0.9, later: 0.9 }];
        let (g, left) = grant(&bad, 3.0, 1.0, 0.1, 0.0, 100.0);
        let a = attempts(0.9, 0.9, 3.0, g);
        assert!(a.mean - 1.0 <= 0.1 * (1.0 - a.failed) + 1e-4, "{a:?}");
        assert!(left < 0.1 && g > 0.0);
        let fine = [Wanted { calls: 1000.0, first: 0.01, later: 0.01 }];
        let (full, kept) = grant(&fine, 3.0, 1.0, 0.1, 0.0, 100.0);
        assert_eq!(full, 1.0);
        assert!(kept > 80.0 && kept <= 100.0);
    }
}
