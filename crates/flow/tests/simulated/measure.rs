//! What is measured in both worlds, and the errors between them.

use crate::chain::World;
use std::fmt::Write;
use std::ops::Range;

/// What one world shows of itself over some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Share of the users that got a good answer.
    pub(crate) success: f64,
    /// Requests per second that the last tier served.
    pub(crate) served: f64,
    /// Latency of good answers, seconds.
    pub(crate) p50: f64,
    pub(crate) p95: f64,
}

impl Seen {
    /// Means over `ticks`.
    pub(crate) fn flow(world: &World, ticks: Range<usize>) -> Seen {
        let rows = &world.rows[ticks.clone()];
        let mean = |f: &dyn Fn(&crate::chain::Row) -> f64| {
            rows.iter().map(f).sum::<f64>() / rows.len() as f64
        };
        Seen {
            success: world.success(ticks),
            served: mean(&|r| r.flows[r.flows.len() - 1][1]),
            p50: mean(&|r| r.outcome.p50_s),
            p95: mean(&|r| r.outcome.p95_s),
        }
    }

    /// The users who came in `from..until` seconds.
    pub(crate) fn simulated(output: &des::Output, from: f64, until: f64) -> Seen {
        let window = output.window(from, until);
        let good: u64 = window.classes.iter().map(|c| c.good).sum();
        let all: u64 = window.classes.iter().map(|c| c.offered).sum();
        let range = (from / output.interval) as usize..(until / output.interval) as usize;
        let range = range.start..range.end.min(output.intervals.len());
        let mut times: Vec<f32> = (0..window.classes.len())
            .flat_map(|class| output.latencies(range.clone(), class))
            .collect();
        times.sort_by(f32::total_cmp);
        let at = |q: f64| {
            let rank = (q * times.len() as f64).ceil() as usize;
            times.get(rank.max(1) - 1).map_or(0.0, |t| f64::from(*t))
        };
        Seen {
            success: good as f64 / all.max(1) as f64,
            served: window.tiers.last().map_or(0.0, des::TierRow::throughput),
            p50: at(0.5),
            p95: at(0.95),
        }
    }
}

/// Errors over many cases.
#[derive(Clone, Debug, Default)]
pub(crate) struct Errors {
    pub(crate) success: Vec<f64>,
    pub(crate) served: Vec<f64>,
    pub(crate) p50: Vec<f64>,
    pub(crate) p95: Vec<f64>,
}

impl Errors {
    /// Success in points, the others relative. Latencies need users who got an answer.
    pub(crate) fn add(&mut self, [flow, truth]: [Seen; 2]) {
        self.success.push((flow.success - truth.success).abs());
        self.served.push((flow.served / truth.served.max(1.0) - 1.0).abs());
        if flow.success > 0.05 && truth.success > 0.05 {
            self.p50.push((flow.p50 / truth.p50 - 1.0).abs());
            self.p95.push((flow.p95 / truth.p95 - 1.0).abs());
        }
    }

    /// Heads of [`Errors::line`].
    pub(crate) const HEAD: &str = "| mean, median, 90 %, max | cases | success | throughput, % \
                                   | p50, % | p95, % |\n|---|---|---|---|---|---|";

    /// One row of a table.
    pub(crate) fn line(&self, name: &str) -> String {
        let mut line = format!("| {name} | {} |", self.success.len());
        let points = |x: f64| format!("{x:.4}").trim_start_matches('0').to_string();
        let percent = |x: f64| format!("{:.*}", usize::from(x < 1.0), 100.0 * x);
        cell(&mut line, &self.success, points);
        for errors in [&self.served, &self.p50, &self.p95] {
            cell(&mut line, errors, percent);
        }
        line
    }
}

fn cell(line: &mut String, errors: &[f64], show: impl Fn(f64) -> String) {
    let of = [mean(errors), quantile(errors, 0.5), quantile(errors, 0.9), quantile(errors, 1.0)];
    let shown: Vec<String> = of.iter().map(|x| show(*x)).collect();
    write!(line, " {} |", shown.join(" ")).expect("a string takes everything");
}

pub(crate) fn mean(errors: &[f64]) -> f64 {
    errors.iter().sum::<f64>() / errors.len().max(1) as f64
}

/// The error that a share `q` of the cases does not exceed.
pub(crate) fn quantile(errors: &[f64], q: f64) -> f64 {
    let mut sorted = errors.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}
