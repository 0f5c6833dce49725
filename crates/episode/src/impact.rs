//! Impact: what users did not get, in user-minutes, as integer micro-units, so that sums are exact
//! and the same in every order.

use model::{ClassSpec, PerClass};

/// Micro-units in a user-minute.
pub const MICRO: f64 = 1e6;

/// Weighted shortfall of one round, user-minutes.
pub(crate) fn shortfall(
    classes: &[ClassSpec],
    demand: &PerClass,
    good: &PerClass,
    delta_s: f64,
) -> f64 {
    let mut sum = 0.0;
    for (c, class) in classes.iter().enumerate() {
        sum += class.weight * (demand[c] - good[c]).max(0.0);
    }
    sum * delta_s / 60.0
}

/// User-minutes in micro-units.
pub(crate) fn micro(user_minutes: f64) -> i64 {
    (user_minutes * MICRO).round() as i64
}

/// What acknowledged writes that are gone cost, user-minutes: as much as a request each that was
/// not answered, at the mean weight of the classes that write.
pub(crate) fn lost_writes(classes: &[ClassSpec], writes: f64) -> f64 {
    let weights: Vec<f64> = classes.iter().filter(|c| c.writes).map(|c| c.weight).collect();
    let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    mean * writes / 60.0
}
