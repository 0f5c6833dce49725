//! The M/M/c/K station in constant time: throughput, loss, queue and wait.
//!
//! States below `c` enter only by their total weight, which is an inverse Erlang loss; the queue
//! states form a geometric sequence. One logarithm and two exponentials per station.

use crate::normal::{SQRT_TAU, mills};
use libm::{exp, log};

/// What a station does at its stationary point. Rates per second, times in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Station {
    /// Throughput.
    pub served: f64,
    /// Refused share of arrivals, 0–1.
    pub refused: f64,
    /// Probability that all servers are busy, 0–1.
    pub busy: f64,
    /// Mean number waiting.
    pub queue: f64,
    /// Variance of the number waiting.
    pub queue_var: f64,
    /// Mean wait of an accepted arrival.
    pub wait: f64,
    /// Variance of that wait, s².
    pub wait_var: f64,
}

/// Below this rate (per second) a station is taken as idle.
pub const IDLE: f64 = 1e-9;

/// Inverse Erlang loss 1/B(c, a) for real `c ≥ 0` servers and `a > 0` erlangs.
pub fn inv_erlang_b(c: f64, a: f64) -> f64 {
    if c <= EXACT_TO { exact_inverse(c, a) } else { temme(c, a, log(a / (c + 1.0))) }
}

/// Up to this many servers the recursion is cheaper than the expansion, and exact.
const EXACT_TO: f64 = 8.0;

/// The recursion B(k) from B(k−1); a fractional start is interpolated between B(0) and B(1).
fn exact_inverse(c: f64, a: f64) -> f64 {
    let whole = c.floor();
    let part = c - whole;
    let mut y = if part == 0.0 { 1.0 } else { 1.0 / ((1.0 - part) + part * a / (1.0 + a)) };
    let mut k = part;
    for _ in 0..whole as u32 {
        k += 1.0;
        y = 1.0 + k / a * y;
    }
    y
}

/// Leading term and first correction of Temme's uniform expansion of the incomplete gamma
/// function; `ln` is ln(a/(c+1)).
fn temme(c: f64, a: f64, ln: f64) -> f64 {
    let n = c + 1.0;
    let d = a / n - 1.0;
    let (t, near) = if d.abs() < 0.02 {
        (d * d * (0.5 - d * (1.0 / 3.0 - d * (0.25 - d * 0.2))), true)
    } else {
        (d - ln, false)
    };
    let eta = (2.0 * t).max(0.0).sqrt().copysign(d);
    let c0 = if near { -1.0 / 3.0 + d / 12.0 - 23.0 * d * d / 540.0 } else { 1.0 / d - 1.0 / eta };
    let root = n.sqrt();
    let mut m = mills(eta.abs() * root);
    if eta < 0.0 {
        if n * t > 500.0 {
            return HUGE;
        }
        m = SQRT_TAU * exp(n * t) - m;
    }
    a / root * (1.0 + 1.0 / (12.0 * n)) * (m + c0 / root)
}

/// Stands for "the servers are practically never all busy".
const HUGE: f64 = 1e200;

/// ln(c/(c+1)) for `c` above [`EXACT_TO`] by its series: saves a logarithm per station.
fn ln_shrink(c: f64) -> f64 {
    // ln((1−x)/(1+x)) = −2·artanh(x) with x = 1/(2c+1) ≤ 1/17: four terms give 1e−13.
    let x = 1.0 / (2.0 * c + 1.0);
    let xx = x * x;
    -2.0 * x * (1.0 + xx * (1.0 / 3.0 + xx * (0.2 + xx * (1.0 / 7.0 + xx / 9.0))))
}

/// A number 0..=K with weight r^j: total weight in units of the largest, mean, variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometric {
    /// Sum of weights over the largest weight.
    pub sum: f64,
    /// Mean.
    pub mean: f64,
    /// Variance.
    pub var: f64,
}

/// Geometric sequence of ratio `r > 0` on 0..=`top`, `top ≥ 0` real.
pub fn geometric(r: f64, top: f64) -> Geometric {
    let ln_r = log(r);
    let p_top = exp(-(ln_r.abs() * top).min(700.0));
    geometric_with(r, ln_r, top, p_top * r.min(1.0 / r))
}

/// As [`geometric`], with its logarithm and p^(top+1), p = min(r, 1/r), already known.
pub(crate) fn geometric_with(r: f64, ln_r: f64, top: f64, p_next: f64) -> Geometric {
    let (p, ln_p) = if ln_r > 0.0 { (1.0 / r, -ln_r) } else { (r, ln_r) };
    let n = top + 1.0;
    let g = if n * ln_p > -0.05 {
        // Near ratio 1 the closed form cancels: expand in ln p.
        let nn = n * n;
        Geometric {
            sum: n * (1.0 + top * ln_p / 2.0 * (1.0 + (2.0 * top + 1.0) * ln_p / 6.0)),
            mean: top / 2.0 + ln_p * (nn - 1.0) / 12.0,
            var: ((nn - 1.0) / 12.0 - (nn * nn - 1.0) * ln_p * ln_p / 240.0).max(0.0),
        }
    } else {
        let (gap, q) = (1.0 - p, p_next);
        let rest = (1.0 - q).max(1e-300);
        Geometric {
            sum: rest / gap,
            mean: p / gap - n * q / rest,
            var: (p / (gap * gap) - n * n * q / (rest * rest)).max(0.0),
        }
    };
    if ln_r > 0.0 { Geometric { mean: top - g.mean, ..g } } else { g }
}

/// M/M/c with `places` to wait and total service rate `rate`, offered `offered` per second.
///
/// `kappa` = (ca² + cs²)/2 scales by diffusion: a queue of `places/kappa` places, `kappa` times
/// as long. `servers > 0` may be fractional; `rate > 0`.
pub fn mmck(offered: f64, rate: f64, servers: f64, places: f64, kappa: f64) -> Station {
    if offered <= IDLE || rate <= 0.0 {
        return Station::default();
    }
    let top = places.max(0.0) / kappa;
    let r = (offered / rate).clamp(1e-12, 1e12);
    let ln_r = log(r);
    let over = ln_r > 0.0;
    let p = if over { 1.0 / r } else { r };
    // p^top: the weight of the far end of the queue in units of the near one.
    let p_top = exp(-(ln_r.abs() * top).min(700.0));
    let erlangs = r * servers;
    let inverse = if servers <= EXACT_TO {
        exact_inverse(servers, erlangs)
    } else {
        temme(servers, erlangs, ln_r + ln_shrink(servers))
    };
    // Weight of the states below `servers`; the state with all busy and none waiting has weight 1.
    let low = (inverse - 1.0).max(0.0);
    let g = geometric_with(r, ln_r, top, p_top * p);
    let (total, last) = if over { (low * p_top + g.sum, 1.0) } else { (low + g.sum, p_top) };
    let (busy, refused) = (g.sum / total, (last / total).min(1.0));
    let mut st = Station {
        served: offered * (1.0 - refused),
        refused,
        busy,
        queue: kappa * busy * g.mean,
        queue_var: (kappa * kappa * (busy * (g.var + g.mean * g.mean) - sq(busy * g.mean)))
            .max(0.0),
        wait: 0.0,
        wait_var: 0.0,
    };
    if top > 0.0 {
        let p_top_1 = if top > 1.0 { p_top } else { p };
        waits(&mut st, geometric_with(r, ln_r, (top - 1.0).max(0.0), p_top_1), rate, kappa);
    }
    st
}

/// Mean and variance of the wait of the accepted, who find `g` waiting if they wait at all.
pub(crate) fn waits(st: &mut Station, g: Geometric, rate: f64, kappa: f64) {
    let waiting = (st.busy - st.refused).max(0.0) / (1.0 - st.refused).max(1e-12);
    let ahead = g.mean + 1.0;
    let mean = waiting * ahead / rate;
    let second = waiting * (g.var + ahead * ahead + ahead) / (rate * rate);
    st.wait = kappa * mean;
    st.wait_var = kappa * kappa * (second - mean * mean).max(0.0);
}

fn sq(x: f64) -> f64 {
    x * x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum over all states, exact.
    fn exact(offered: f64, rate: f64, c: usize, k: usize) -> (f64, f64, f64) {
        let a = offered / rate * c as f64;
        let mut ln_w = vec![0.0f64];
        for j in 1..=(c + k) {
            let servers = j.min(c) as f64;
            ln_w.push(ln_w[j - 1] + log(a) - log(servers));
        }
        let top = ln_w.iter().copied().fold(f64::MIN, f64::max);
        let w: Vec<f64> = ln_w.iter().map(|x| exp(x - top)).collect();
        let total: f64 = w.iter().sum();
        let loss = w[c + k] / total;
        let queue: f64 = (c..=c + k).map(|j| (j - c) as f64 * w[j]).sum::<f64>() / total;
        let served = offered * (1.0 - loss);
        (served, loss, queue / served)
    }

    #[test]
    fn throughput_loss_and_wait_stay_within_the_bands_of_the_exact_sum() {
        let (mut worst_x, mut worst_loss, mut worst_wait) = (0.0f64, 0.0f64, 0.0f64);
        for c in [1usize, 2, 4, 8, 9, 16, 64, 256, 1024] {
            for k in [0usize, 1, 8, 64, 500, 2000] {
                for rho in [0.1, 0.5, 0.9, 0.97, 0.999, 1.0, 1.001, 1.03, 1.2, 2.0, 4.0] {
                    let rate = 100.0;
                    let st = mmck(rho * rate, rate, c as f64, k as f64, 1.0);
                    let (x, loss, wait) = exact(rho * rate, rate, c, k);
                    worst_x = worst_x.max((st.served / x - 1.0).abs());
                    worst_loss = worst_loss.max((st.refused - loss).abs());
                    // A wait far below the service time matters to nobody.
                    let service = c as f64 / rate;
                    worst_wait = worst_wait.max((st.wait - wait).abs() / (wait + 0.1 * service));
                }
            }
        }
        assert!(worst_x < 0.006, "throughput {worst_x}");
        assert!(worst_loss < 0.0013, "loss {worst_loss}");
        assert!(worst_wait < 0.005, "wait {worst_wait}");
    }

    #[test]
    fn erlang_matches_known_values() {
        // B(10, 5) and B(100, 90), from the recursion.
        let recursion = |c: u32, a: f64| (1..=c).fold(1.0, |y, k| 1.0 + f64::from(k) / a * y);
        for (c, a) in [(10, 5.0), (100, 90.0), (30, 30.6), (512, 600.0)] {
            let (got, want) = (inv_erlang_b(f64::from(c), a), recursion(c, a));
            assert!((got / want - 1.0).abs() < 2e-3, "B({c}, {a}): {got} {want}");
        }
        assert!((ln_shrink(9.0) - log(0.9)).abs() < 1e-12);
    }

    #[test]
    fn extremes_stay_finite() {
        for offered in [0.0, 1e-12, 1e-6, 1.0, 1e9] {
            for rate in [0.0, 1e-9, 1.0, 1e9] {
                for (servers, places) in [(1e-3, 0.0), (1.0, 1e12), (4096.0, 0.5), (8.5, 3.3)] {
                    let st = mmck(offered, rate, servers, places, 1.0);
                    let all = [st.served, st.refused, st.busy, st.queue, st.queue_var, st.wait];
                    assert!(all.iter().all(|v| v.is_finite() && *v >= 0.0), "{offered} {st:?}");
                }
            }
        }
    }
}
