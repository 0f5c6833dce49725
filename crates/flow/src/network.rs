//! The caller's in-flight cap seen as a closed network, and the bracketed solve where it is not.

use crate::mmck::{IDLE, Station, geometric_with, mmck, waits};
use crate::normal;
use libm::{exp, log};

/// Throughput of `jobs` jobs that spend `delay_s` outside and then visit `servers` servers of
/// total rate `rate`: one Newton step from the bottleneck bound.
///
/// The jobs outside are taken as normal; their variance goes from Poisson when the servers are
/// the bottleneck to binomial when the jobs are.
pub fn network_throughput(jobs: f64, delay_s: f64, servers: f64, rate: f64) -> f64 {
    let jobs = jobs.max(1e-6);
    if rate <= 0.0 || servers <= 0.0 {
        return 0.0;
    }
    let service = servers / rate;
    let most = rate.min(jobs / (delay_s + service));
    let out = most * delay_s;
    let share = out / jobs;
    let sd = (out * (1.0 - share * share * share * share)).max(1e-9).sqrt();
    let (over, beyond) = normal::excess((jobs - servers - out) / sd);
    let slope = 1.0 + delay_s / service * beyond;
    let x = most - (most - rate * (1.0 - sd * over / servers)) / slope;
    x.clamp(0.3 * most, most)
}

/// Do a caller's slots fill (mean time `room_s` in the callee) well before its time-out? If not,
/// abandoned work piles up behind them.
#[inline]
pub fn in_time(room_s: f64, rate: f64, hold_s: f64, timeout_s: f64) -> bool {
    let left = timeout_s - room_s;
    // room + 2·sqrt(room/rate + hold²) < timeout, without the root.
    left > 0.0 && 4.0 * (room_s.max(0.0) / rate.max(1e-9) + hold_s * hold_s) < left * left
}

/// A caller whose slots fill because of its callee: total throughput `rate`, `servers` slots busy
/// at the unloaded hold, `beyond` slots more, then `places` of its own queue. The wait, queue and
/// loss are those of the places.
pub fn limited(offered: f64, rate: f64, servers: f64, beyond: f64, places: f64) -> Station {
    let all = mmck(offered, rate, servers, beyond + places, 1.0);
    if offered <= IDLE || rate <= 0.0 {
        return all;
    }
    let r = (offered / rate).clamp(1e-12, 1e12);
    let (ln_r, p) = (log(r), r.min(1.0 / r));
    let decay = |n: f64| exp(-(ln_r.abs() * n).min(700.0));
    let p_places = decay(places);
    let g = geometric_with(r, ln_r, places, p_places * p);
    let whole = geometric_with(r, ln_r, beyond + places, decay(beyond + places) * p);
    let first = if ln_r <= 0.0 { decay(beyond) } else { 1.0 };
    let busy = (all.busy * g.sum / whole.sum * first).min(1.0);
    let second = busy * (g.var + g.mean * g.mean);
    let mut st = Station {
        busy,
        queue: busy * g.mean,
        queue_var: (second - busy * busy * g.mean * g.mean).max(0.0),
        wait: 0.0,
        wait_var: 0.0,
        ..all
    };
    let p_last = if places > 1.0 { p_places } else { p };
    waits(&mut st, geometric_with(r, ln_r, (places - 1.0).max(0.0), p_last), rate, 1.0);
    st
}

/// Largest `x ≤ offered` with `x·(delay + time in the callee) ≤ jobs`; `solve(x)` gives the
/// caller's time per attempt there. False position (Illinois) from the bracket
/// [jobs/(delay + timeout), offered], at most [`EVALUATIONS`] calls of `solve`.
pub fn capped(
    offered: f64,
    jobs: f64,
    delay_s: f64,
    timeout_s: f64,
    mut solve: impl FnMut(f64) -> f64,
) -> f64 {
    let over = |x: f64, time: f64| x * (delay_s + time) - jobs;
    let at_offered = over(offered, solve(offered));
    if at_offered <= 0.0 {
        return offered;
    }
    let (mut hi, mut at_hi) = (offered, at_offered);
    let mut lo = (jobs / (delay_s + timeout_s).max(1e-9)).min(offered);
    let mut at_lo = over(lo, solve(lo));
    let (mut x, mut side, mut left) = (lo, 0, EVALUATIONS - 2);
    let slack = SLACK * jobs;
    while left > 0 && at_lo < -slack && hi - lo > 1e-4 * offered {
        left -= 1;
        x = lo - at_lo * (hi - lo) / (at_hi - at_lo);
        let at_x = over(x, solve(x));
        if at_x.abs() < slack {
            break;
        }
        if at_x > 0.0 {
            (hi, at_hi) = (x, at_x);
            if side == 1 {
                at_lo /= 2.0;
            }
            side = 1;
        } else {
            (lo, at_lo) = (x, at_x);
            if side == -1 {
                at_hi /= 2.0;
            }
            side = -1;
        }
    }
    x
}

/// Evaluations that a capped solve may take. Four do for most; the rest are for brackets that
/// span a collapse, where four once left half of the root.
pub const EVALUATIONS: u32 = 8;

/// A cap is met when within this share of the jobs.
const SLACK: f64 = 0.002;

#[cfg(test)]
mod tests {
    use super::*;

    /// The machine-repair network, state by state.
    fn exact(jobs: usize, delay: f64, servers: usize, rate: f64) -> f64 {
        let service = servers as f64 / rate;
        let mut ln_w = vec![0.0f64];
        for j in 1..=jobs {
            let up = (jobs - j + 1) as f64 / delay;
            let down = j.min(servers) as f64 / service;
            ln_w.push(ln_w[j - 1] + log(up / down));
        }
        let top = ln_w.iter().copied().fold(f64::MIN, f64::max);
        let w: Vec<f64> = ln_w.iter().map(|v| exp(v - top)).collect();
        let total: f64 = w.iter().sum();
        (0..=jobs).map(|j| w[j] / total * j.min(servers) as f64 / service).sum()
    }

    #[test]
    fn throughput_is_near_the_exact_network() {
        for servers in [4usize, 16, 64] {
            for jobs in [8usize, 32, 100, 400] {
                for delay in [0.002, 0.01, 0.05] {
                    let rate = servers as f64 / 0.008;
                    let got = network_throughput(jobs as f64, delay, servers as f64, rate);
                    let want = exact(jobs, delay, servers, rate);
                    let off = (got / want - 1.0).abs();
                    assert!(off < 0.03, "{jobs} jobs, {delay} s, {servers}: {got} {want}");
                }
            }
        }
    }

    #[test]
    fn the_capped_solve_meets_its_cap() {
        // Time in the callee grows linearly: x·(0.01 + x/1000) = 10 → x = 95.1.
        let mut calls = 0;
        let x = capped(500.0, 10.0, 0.01, 1.0, |x| {
            calls += 1;
            x / 1000.0
        });
        assert!((x - 95.125).abs() < 1.0, "{x}");
        assert!(calls <= EVALUATIONS);
        assert_eq!(capped(5.0, 10.0, 0.01, 1.0, |_| 0.1), 5.0);
    }

    #[test]
    fn a_limited_caller_waits_in_its_own_places() {
        let free = limited(500.0, 1000.0, 10.0, 50.0, 100.0);
        let tight = limited(1200.0, 1000.0, 10.0, 50.0, 100.0);
        assert!(free.wait < 1e-6 && free.refused < 1e-9);
        assert!(tight.wait > 0.05 && (tight.refused - 1.0 / 6.0).abs() < 0.01, "{tight:?}");
        assert!(in_time(0.1, 1000.0, 0.01, 0.25) && !in_time(0.24, 1000.0, 0.01, 0.25));
    }
}
