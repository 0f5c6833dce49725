//! Small systems and estimates that several tests need. No test, and no formula of a queue.

use des::{Class, Config, Edge, Output, Tier, Users};

/// A mean over batches, and its standard error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimate {
    pub(crate) mean: f64,
    pub(crate) error: f64,
}

/// One open class calling tier 0.
pub(crate) fn open(rate: f64, tiers: Vec<Tier>) -> Config {
    let users = Users::Open { rate: rate.into() };
    Config { tiers, classes: vec![Class { users, ..Class::default() }], ..Config::default() }
}

/// A tier with one replica.
pub(crate) fn tier(slots: u32, queue: u32, work: f64) -> Tier {
    Tier { slots, queue, work, ..Tier::default() }
}

/// A tier that never makes anyone wait.
pub(crate) fn roomy(work: f64) -> Tier {
    tier(100_000, 0, work)
}

/// A tier that only passes on: no work of its own, one call on `edge`.
pub(crate) fn caller(edge: Edge) -> Tier {
    Tier { edges: vec![edge], ..roomy(0.0) }
}

/// `value` of the windows of a run after the first, cut into `count` windows of equal length.
pub(crate) fn batches(
    output: &Output,
    count: usize,
    value: impl Fn(&des::Interval) -> f64,
) -> Estimate {
    let end = output.intervals.last().expect("a run has intervals").until;
    let length = end / count as f64;
    let window = |i: usize| output.window(i as f64 * length, (i + 1) as f64 * length);
    let values: Vec<f64> = (1..count).map(|i| value(&window(i))).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    Estimate { mean, error: (squares / (n - 1.0) / n).sqrt() }
}

/// Asserts that an estimate agrees with the exact value and is sharp enough to mean something:
/// within four standard errors, and these within `sharp` (absolute).
pub(crate) fn agrees(what: &str, estimate: Estimate, exact: f64, sharp: f64) {
    let Estimate { mean, error } = estimate;
    assert!(error <= sharp, "{what}: {mean} ± {error} is too vague, {sharp} asked for");
    let off = (mean - exact).abs();
    assert!(off <= 4.0 * error + 1e-9, "{what}: {mean} ± {error}, exactly {exact}");
}

/// Asserts that a value lies within `tolerance` (absolute) of another.
pub(crate) fn near(what: &str, value: f64, wanted: f64, tolerance: f64) {
    assert!((value - wanted).abs() <= tolerance, "{what}: {value}, wanted {wanted} ± {tolerance}");
}
