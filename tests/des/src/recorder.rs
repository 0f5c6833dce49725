//! Collects what happens to users, and the rows of the intervals. It does not watch the tiers: they
//! count for themselves.

use crate::agenda::{Instant, instant, seconds};
use crate::config::Config;
use crate::output::{ClassRow, EdgeRow, Output, TierRow};

/// The statistics of a run.
#[derive(Debug)]
pub(crate) struct Recorder {
    interval: Instant,
    class_count: usize,
    /// A row per interval and class, and the latencies of its successes.
    classes: Vec<ClassRow>,
    tiers: Vec<Vec<TierRow>>,
    edges: Vec<Vec<EdgeRow>>,
    latencies: Vec<Vec<f32>>,
}

impl Recorder {
    pub(crate) fn new(config: &Config) -> Self {
        let interval = instant(config.interval);
        let rows = instant(config.end).div_ceil(interval) + 1;
        let class_count = config.classes.len();
        Self {
            interval,
            class_count,
            classes: vec![ClassRow::default(); rows as usize * class_count],
            tiers: Vec::new(),
            edges: Vec::new(),
            latencies: vec![Vec::new(); rows as usize * class_count],
        }
    }

    /// Where the row and the latencies of those are that come at `time`.
    fn list(&self, time: Instant, class: usize) -> usize {
        (time / self.interval) as usize * self.class_count + class
    }

    fn row(&mut self, time: Instant, class: usize) -> &mut ClassRow {
        let list = self.list(time, class);
        &mut self.classes[list]
    }

    pub(crate) fn offered(&mut self, now: Instant, class: usize) {
        self.row(now, class).offered += 1;
    }

    pub(crate) fn shed(&mut self, now: Instant, class: usize) {
        self.row(now, class).shed += 1;
    }

    /// A user that came at `since` leaves.
    pub(crate) fn ended(&mut self, since: Instant, now: Instant, class: usize, good: bool) {
        let took = seconds(now - since);
        let row = self.row(since, class);
        if good {
            row.good += 1;
            row.good_seconds += took;
            self.row(now, class).ended_good += 1;
            let list = self.list(since, class);
            self.latencies[list].push(took as f32);
        } else {
            row.failed += 1;
            row.failed_seconds += took;
            self.row(now, class).ended_failed += 1;
        }
    }

    /// An interval has passed.
    pub(crate) fn tick(&mut self, tiers: Vec<TierRow>, edges: Vec<EdgeRow>) {
        self.tiers.push(tiers);
        self.edges.push(edges);
    }

    /// The output of the complete intervals.
    pub(crate) fn finish(self, events: u64) -> Output {
        let mut classes = self.classes.chunks(self.class_count.max(1)).map(<[ClassRow]>::to_vec);
        let rows = self.tiers.into_iter().zip(self.edges);
        let rows = rows.map(|(tiers, edges)| (classes.next().unwrap_or_default(), tiers, edges));
        Output::new(seconds(self.interval), rows, self.latencies, events)
    }
}
