//! What happens to the system from outside: steps of schedules, dropped queues, restarts. The
//! instants are collected beforehand, and at each of them all present values are read anew.

use crate::agenda::{Instant, Kind, instant, seconds};
use crate::call::Failure;
use crate::config::{Config, Users};
use crate::schedule::Schedule;
use crate::sim::World;

/// The instants at which something scheduled changes, ascending, each once.
pub(crate) fn instants(config: &Config) -> Vec<Instant> {
    let mut all: Vec<f64> = vec![0.0];
    let mut add = |schedule: &Schedule| all.extend(schedule.instants());
    for edge in config.edges() {
        for schedule in [&edge.timeout, &edge.retries, &edge.backoff] {
            add(schedule);
        }
        for schedule in [&edge.delay, &edge.loss, &edge.abort] {
            add(schedule);
        }
        edge.budget.iter().for_each(|budget| add(&budget.share));
        edge.pool.iter().for_each(|pool| add(&pool.leak));
    }
    for tier in &config.tiers {
        add(&tier.speed);
        tier.errors.iter().for_each(&mut add);
        for group in &tier.groups {
            [&group.replicas, &group.slow, &group.error].into_iter().for_each(&mut add);
        }
    }
    for class in &config.classes {
        add(&class.admit);
        if let Users::Open { rate } = &class.users {
            add(rate);
        }
    }
    all.extend(config.tiers.iter().flat_map(|tier| tier.flushes.iter().chain(&tier.restarts)));
    let mut all: Vec<Instant> = all.into_iter().map(instant).collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl World<'_> {
    /// Enters the instants of all changes.
    pub(crate) fn schedule_changes(&mut self) {
        for time in instants(self.config) {
            self.agenda.push(time, Kind::Change, 0, 0);
        }
    }

    /// Reads all schedules, and drops what is to be dropped now.
    pub(crate) fn change(&mut self) {
        let (config, time) = (self.config, seconds(self.now));
        for (edge, settings) in self.edges.iter_mut().zip(config.edges()) {
            edge.refresh(settings, time);
        }
        for (class, settings) in config.classes.iter().enumerate() {
            if self.sources[class].refresh(settings, time) {
                self.expect_user(class);
            }
        }
        for (tier, settings) in self.tiers.iter_mut().zip(&config.tiers) {
            tier.refresh(settings, self.now);
        }
        for (index, settings) in config.tiers.iter().enumerate() {
            let due = |list: &[f64]| list.iter().any(|&t| instant(t) == self.now);
            let restart = due(&settings.restarts);
            if restart || due(&settings.flushes) || self.tiers[index].active.is_empty() {
                self.drop_requests(index, restart);
            }
        }
        for tier in 0..self.tiers.len() {
            for station in 0..self.tiers[tier].stations.len() {
                self.dispatch(tier as u16, station as u16);
            }
        }
    }

    /// Drops the queue of a tier and, if it restarts, all it works on; callers hear a refusal.
    fn drop_requests(&mut self, index: usize, restart: bool) {
        let mut dropped = Vec::new();
        for station in 0..self.tiers[index].stations.len() {
            while let Some(id) = self.tiers[index].dequeue(station as u16, self.now) {
                dropped.push(id);
            }
        }
        if restart {
            let running = dropped.len();
            dropped.extend(self.slab.in_slots(index as u16));
            for &id in &dropped[running..] {
                let record = &self.slab[id];
                self.tiers[index].vacate(record.station, record.group, self.now);
            }
            let first = self.tiers[index].edges.start;
            for (offset, settings) in self.config.tiers[index].edges.iter().enumerate() {
                self.edges[first + offset].reset(settings);
                self.edges[first + offset].refresh(settings, seconds(self.now));
            }
        }
        let callers: Vec<(u32, u32)> =
            dropped.iter().map(|&id| (self.slab[id].parent, self.slab[id].parent_stamp)).collect();
        dropped.iter().for_each(|&id| self.slab.remove(id));
        self.tiers[index].row.dropped += dropped.len() as u64;
        for (caller, stamp) in callers {
            if self.slab.is_current(caller, stamp) {
                self.failed(caller, Failure::Refused);
            }
        }
    }
}
