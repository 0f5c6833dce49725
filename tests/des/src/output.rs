//! What a run gives: counts and integrals per interval, of users, tiers and edges. Rows add up, so
//! that a window of several intervals has the same shape as one; shares and means are derived.

use std::ops::AddAssign;

/// The rows of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Length of an interval, s.
    pub interval: f64,
    /// The complete intervals, in order.
    pub intervals: Vec<Interval>,
    /// Events that were taken from the agenda.
    pub events: u64,
    /// Latencies of the successes (s, ascending), a list per interval of arrival and class.
    latencies: Vec<Vec<f32>>,
}

/// One interval, or several together.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Begin, s.
    pub from: f64,
    /// End, s.
    pub until: f64,
    /// By index of the class.
    pub classes: Vec<ClassRow>,
    /// By index of the tier.
    pub tiers: Vec<TierRow>,
    /// Those of the tiers in order, then the entry of each class.
    pub edges: Vec<EdgeRow>,
}

/// Users of a class. Counts belong to the interval in which a user came, unless named `ended`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClassRow {
    /// Users that came, shed ones included.
    pub offered: u64,
    /// Not let in; they count as failed.
    pub shed: u64,
    /// Got a good answer.
    pub good: u64,
    /// Got none.
    pub failed: u64,
    /// Good answers in this interval, whenever their users came.
    pub ended_good: u64,
    /// Failures in this interval, whenever their users came.
    pub ended_failed: u64,
    /// Sum of the latencies of successes, s.
    pub good_seconds: f64,
    /// Sum of the times until failure, s.
    pub failed_seconds: f64,
    /// Median latency of successes, s; 0 if there is none.
    pub p50: f64,
    /// The same at 95 %.
    pub p95: f64,
    /// The same at 99 %.
    pub p99: f64,
}

/// Requests at a tier.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TierRow {
    /// Length of the window, s.
    pub seconds: f64,
    /// Attempts that reached it.
    pub arrived: u64,
    /// Turned away: no place.
    pub refused: u64,
    /// Dropped by a flush or restart.
    pub dropped: u64,
    /// Discarded past their deadline.
    pub expired: u64,
    /// Took a slot.
    pub started: u64,
    /// Left their slot with an answer, good or not.
    pub served: u64,
    /// Of these, bad answers.
    pub failed: u64,
    /// Of these, by an own error.
    pub own_errors: u64,
    /// Of the served, those whose caller had gone.
    pub wasted: u64,
    /// Sum of the times in the queue of those that started, s.
    pub waited: f64,
    /// Sum of the times in queue and slot of those that were served, s.
    pub stayed: f64,
    /// Busy slots, integral over time, s.
    pub busy: f64,
    /// Slots that there are, integral over time, s.
    pub slots: f64,
    /// Waiting requests, integral over time, s.
    pub queued: f64,
}

/// Calls on an edge.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EdgeRow {
    /// Calling tier; none for users.
    pub from: Option<usize>,
    /// Called tier.
    pub to: usize,
    /// Length of the window, s.
    pub seconds: f64,
    /// Calls begun.
    pub calls: u64,
    /// Calls failed for good, for whatever reason.
    pub failed: u64,
    /// Attempts begun; rejected ones are not counted.
    pub attempts: u64,
    /// Attempts after the first of a call, and pauses for them.
    pub retries: u64,
    /// Attempts refused by the callee.
    pub refused: u64,
    /// Attempts that took too long.
    pub timed_out: u64,
    /// Attempts answered with an error.
    pub errors: u64,
    /// Attempts aborted on the way.
    pub aborted: u64,
    /// Attempts lost on the way; they end as timed out.
    pub lost: u64,
    /// Attempts that got no connection in time.
    pub unconnected: u64,
    /// Calls that the breaker rejected.
    pub rejected: u64,
    /// Calls and retries not made because of the caller's deadline.
    pub late: u64,
    /// Retries not made because of the budget.
    pub over_budget: u64,
    /// Times that the breaker opened.
    pub opened: u64,
    /// Connections in use at the end, leaked ones included.
    pub in_use: u32,
    /// Leaked connections at the end.
    pub leaked: u32,
    /// Tokens of the retry budget at the end.
    pub tokens: f64,
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl ClassRow {
    /// Share of the offered users that got a good answer; 0 if there were none.
    pub fn success(&self) -> f64 {
        ratio(self.good as f64, self.offered as f64)
    }

    /// Mean latency of successes, s.
    pub fn mean_latency(&self) -> f64 {
        ratio(self.good_seconds, self.good as f64)
    }

    /// Mean time until failure, s.
    pub fn mean_failure(&self) -> f64 {
        ratio(self.failed_seconds, self.failed as f64)
    }
}

impl TierRow {
    /// Requests served per second.
    pub fn throughput(&self) -> f64 {
        ratio(self.served as f64, self.seconds)
    }

    /// Share of the arrived that was refused.
    pub fn refusal(&self) -> f64 {
        ratio(self.refused as f64, self.arrived as f64)
    }

    /// Share of the slots that is busy.
    pub fn utilization(&self) -> f64 {
        ratio(self.busy, self.slots)
    }

    /// Mean number of waiting requests.
    pub fn mean_queue(&self) -> f64 {
        ratio(self.queued, self.seconds)
    }

    /// Mean time in the queue of those that got a slot, s.
    pub fn mean_wait(&self) -> f64 {
        ratio(self.waited, self.started as f64)
    }

    /// Mean time in queue and slot, s.
    pub fn mean_stay(&self) -> f64 {
        ratio(self.stayed, self.served as f64)
    }
}

impl EdgeRow {
    /// Attempts per call.
    pub fn attempts_per_call(&self) -> f64 {
        ratio(self.attempts as f64, self.calls as f64)
    }

    /// Share of the calls that fails for good.
    pub fn failure(&self) -> f64 {
        ratio(self.failed as f64, self.calls as f64)
    }
}

macro_rules! add_fields {
    ($row:ty, $($field:ident)+) => {
        impl AddAssign for $row {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)+
            }
        }
    };
}

add_fields!(ClassRow, offered shed good failed ended_good ended_failed good_seconds failed_seconds);
add_fields!(TierRow, seconds arrived refused dropped expired started served failed own_errors
    wasted waited stayed busy slots queued);
add_fields!(EdgeRow, seconds calls failed attempts retries refused timed_out errors aborted lost
    unconnected rejected late over_budget opened);

type Rows = (Vec<ClassRow>, Vec<TierRow>, Vec<EdgeRow>);

impl Output {
    pub(crate) fn new(
        interval: f64,
        rows: impl Iterator<Item = Rows>,
        mut latencies: Vec<Vec<f32>>,
        events: u64,
    ) -> Self {
        latencies.iter_mut().for_each(|list| list.sort_unstable_by(f32::total_cmp));
        let from = |index: usize| index as f64 * interval;
        let interval_of = |(index, (classes, tiers, edges))| {
            let (from, until) = (from(index), from(index + 1));
            Interval { from, until, classes, tiers, edges }
        };
        let intervals = rows.enumerate().map(interval_of).collect();
        let mut output = Self { interval, intervals, events, latencies };
        for index in 0..output.intervals.len() {
            for class in 0..output.intervals[index].classes.len() {
                output.set_quantiles(index, class);
            }
        }
        output
    }

    fn set_quantiles(&mut self, index: usize, class: usize) {
        let classes = &mut self.intervals[index].classes;
        let list = &self.latencies[index * classes.len() + class];
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|q| quantile(list, q));
        let row = &mut classes[class];
        (row.p50, row.p95, row.p99) = (p50, p95, p99);
    }

    /// The latencies (s, ascending) of the users of `class` that came in these intervals and got a
    /// good answer.
    pub fn latencies(&self, intervals: std::ops::Range<usize>, class: usize) -> Vec<f32> {
        let mut all = Vec::new();
        for index in intervals {
            all.extend(&self.latencies[index * self.intervals[index].classes.len() + class]);
        }
        // The stable sort makes use of the order that the parts have.
        all.sort_by(f32::total_cmp);
        all
    }

    /// The intervals within `from..until` (s) as one.
    ///
    /// # Panics
    /// If there is none.
    pub fn window(&self, from: f64, until: f64) -> Interval {
        let index = |time: f64| (time / self.interval).round() as usize;
        let range = index(from)..index(until).min(self.intervals.len());
        let mut parts = self.intervals[range.clone()].iter();
        let mut sum = parts.next().expect("a window needs an interval").clone();
        for part in parts {
            sum.until = part.until;
            sum.classes.iter_mut().zip(&part.classes).for_each(|(a, b)| *a += *b);
            sum.tiers.iter_mut().zip(&part.tiers).for_each(|(a, b)| *a += *b);
            for (a, b) in sum.edges.iter_mut().zip(&part.edges) {
                *a += *b;
                (a.in_use, a.leaked, a.tokens) = (b.in_use, b.leaked, b.tokens);
            }
        }
        for (class, row) in sum.classes.iter_mut().enumerate() {
            let all = self.latencies(range.clone(), class);
            [row.p50, row.p95, row.p99] = [0.5, 0.95, 0.99].map(|q| quantile(&all, q));
        }
        sum
    }
}

/// The value below which a share `q` of an ascending list lies; 0 if it is empty.
fn quantile(ascending: &[f32], q: f64) -> f64 {
    let rank = (q * ascending.len() as f64).ceil() as usize;
    ascending.get(rank.max(1) - 1).map_or(0.0, |&value| f64::from(value))
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn a_quantile_is_the_value_at_its_rank() {
        let list: Vec<f32> = (1_u8..=100).map(f32::from).collect();
        assert_eq!([0.5, 0.95, 0.99, 1.0].map(|q| quantile(&list, q)), [50.0, 95.0, 99.0, 100.0]);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}
