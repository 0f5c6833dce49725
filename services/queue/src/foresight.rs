//! When a message that is published now is handled, as it is foreseen from the published past:
//! the same foresight by which users count a message as late.

use crate::broker::Terms;
use crate::signals::{CONSUMED, HANDLER_FAILED, LATE, OLDEST, PARTITION, REBALANCING};
use flow::latency::latency_draw_within;
use model::{Setup, Tick};
use server::keys;
use server::signals::QUEUE;
use telemetry::History;

/// What is foreseen to be later than this is never, seconds.
const NEVER_S: f64 = 86_400.0;
/// The head of a partition that stands still ages as fast as time passes; it is watched this long.
const WATCHED_S: i64 = 10;
/// A partition that has this many times its share of the messages has a cause of its own.
const UNEVEN: f64 = 1.5;

/// Seconds from a publish after tick `seen` to its delivery; none: never, as things are. `draws`
/// are whether the message is one of the late ones, and how long one in time waits.
pub(crate) fn handled_after_s(
    setup: &Setup,
    terms: &Terms,
    history: &History,
    seen: Tick,
    draws: (f64, f64),
) -> Option<f64> {
    let (row, levels) = (history.row(seen), history.levels(seen));
    let groups = (0_u16..).zip(&setup.spec.groups);
    let running: f64 =
        groups.map(|(g, of)| levels.get(keys::RUNNING + g, f64::from(of.replicas))).sum();
    if running <= 0.0 {
        return None;
    }
    let consumed = row[CONSUMED];
    // Little's law, over all partitions.
    let wait_s = if consumed > 1e-9 { row[QUEUE] / consumed } else { f64::INFINITY };
    // Dead letters count as late, and are delivered in time none the less.
    let failed = row[server::signals::own(setup) + HANDLER_FAILED];
    let dead = if terms.max_deliveries == 0 { 0.0 } else { power(failed, terms.max_deliveries) };
    let late = if dead < 1.0 { 1.0 - (1.0 - row[LATE]) / (1.0 - dead) } else { 0.0 };
    if draws.0 < late {
        let before = history.row(seen.plus(-WATCHED_S))[OLDEST];
        let stands = row[OLDEST] - before > 0.95 * WATCHED_S as f64;
        let pausing = levels.get(REBALANCING, 0.0) > 0.0;
        let after_s = wait_s.max(row[OLDEST]).max(terms.freshness_s);
        return (after_s < NEVER_S && (pausing || !stands)).then_some(after_s);
    }
    let uneven = row[PARTITION] * terms.partitions as f64 > UNEVEN * row[QUEUE];
    let mean_s = if uneven { terms.fetch_s } else { wait_s.min(terms.freshness_s) };
    Some(latency_draw_within(mean_s, mean_s * mean_s, terms.freshness_s, draws.1))
}

/// `base` to the power of a small whole number: the platform's own differs in the last bit.
fn power(base: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |all, _| all * base)
}
