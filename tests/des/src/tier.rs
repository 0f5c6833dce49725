//! The state of a tier: its stations (a queue with slots behind it), present values of its
//! schedules, and the integrals of its statistics. What happens to requests is in `serve`.

use std::collections::VecDeque;

use crate::agenda::{Instant, instant, seconds};
use crate::config::{self, Balance, Spread};
use crate::output::TierRow;
use crate::rng::Rng;

/// A queue with slots: the whole tier, or one replica.
#[derive(Debug, Default)]
pub(crate) struct Station {
    pub(crate) slots: u32,
    pub(crate) busy: u32,
    pub(crate) places: u32,
    pub(crate) queue: VecDeque<u32>,
    group: u16,
}

/// Replicas that behave alike.
#[derive(Debug, Default)]
pub(crate) struct GroupState {
    slots: u32,
    busy: u32,
    slow: f64,
    error: f64,
}

/// A tier at work.
#[derive(Debug)]
pub(crate) struct TierState {
    pub(crate) stations: Vec<Station>,
    pub(crate) groups: Vec<GroupState>,
    /// Stations that take requests.
    pub(crate) active: Vec<u16>,
    /// Its edges in the list of all.
    pub(crate) edges: std::ops::Range<usize>,
    balance: Balance,
    turn: usize,
    work: f64,
    spread: Spread,
    work_scale: Vec<f64>,
    speed: f64,
    errors: Vec<f64>,
    rng: Rng,
    slots: u32,
    busy: u32,
    queued: u32,
    touched: Instant,
    pub(crate) row: TierRow,
}

impl TierState {
    pub(crate) fn new(config: &config::Tier, edges: std::ops::Range<usize>, rng: Rng) -> Self {
        let most = |group: &config::Group| group.replicas.values().fold(0.0, f64::max).round();
        let mut stations = Vec::new();
        for (g, group) in config.groups.iter().enumerate() {
            for _ in 0..most(group) as u32 {
                stations.push(Station { group: g as u16, ..Station::default() });
            }
        }
        if config.balance == Balance::Shared {
            stations.truncate(1);
        }
        let mut tier = Self {
            stations,
            groups: config.groups.iter().map(|_| GroupState::default()).collect(),
            active: Vec::new(),
            edges,
            balance: config.balance,
            turn: 0,
            work: config.work,
            spread: config.spread,
            work_scale: config.work_scale.clone(),
            speed: 1.0,
            errors: Vec::new(),
            rng,
            slots: 0,
            busy: 0,
            queued: 0,
            touched: 0,
            row: TierRow::default(),
        };
        tier.refresh(config, 0);
        tier
    }

    /// The values of the schedules at `now`.
    pub(crate) fn refresh(&mut self, config: &config::Tier, now: Instant) {
        self.touch(now);
        let time = seconds(now);
        self.speed = config.speed.at(time);
        self.errors.clear();
        self.errors.extend(config.errors.iter().map(|error| error.at(time)));
        self.active.clear();
        let (mut first, mut running) = (0, 0);
        for (state, group) in self.groups.iter_mut().zip(&config.groups) {
            let replicas = group.replicas.at(time).round() as u32;
            state.slots = replicas * config.slots;
            state.slow = group.slow.at(time);
            state.error = group.error.at(time);
            running += replicas;
            if config.balance != Balance::Shared {
                self.active.extend(first..first + replicas as u16);
                first += group.replicas.values().fold(0.0, f64::max).round() as u16;
            }
        }
        self.slots = running * config.slots;
        if config.balance == Balance::Shared {
            if running > 0 {
                self.active.push(0);
            }
            for station in &mut self.stations {
                (station.slots, station.places) = (self.slots, config.queue);
            }
        } else {
            for station in &mut self.stations {
                // A replica that is taken away works off what it has.
                (station.slots, station.places) = (config.slots, config.queue / running.max(1));
            }
        }
    }

    /// Advances the integrals to `now`; to be called before busy slots or the queue change.
    pub(crate) fn touch(&mut self, now: Instant) {
        let passed = seconds(now - self.touched);
        self.row.busy += passed * f64::from(self.busy);
        self.row.slots += passed * f64::from(self.slots);
        self.row.queued += passed * f64::from(self.queued);
        self.touched = now;
    }

    /// The station for an arriving request.
    pub(crate) fn choose(&mut self) -> Option<u16> {
        let n = self.active.len();
        if n <= 1 {
            return self.active.first().copied();
        }
        let pick = match self.balance {
            Balance::Shared => 0,
            Balance::Random => self.rng.below(n as u32) as usize,
            Balance::RoundRobin => {
                self.turn = (self.turn + 1) % n;
                self.turn
            }
            Balance::TwoChoices => {
                let one = self.rng.below(n as u32) as usize;
                let other = (one + 1 + self.rng.below(n as u32 - 1) as usize) % n;
                let load = |i: usize| {
                    let station = &self.stations[usize::from(self.active[i])];
                    station.busy as usize + station.queue.len()
                };
                if load(other) < load(one) { other } else { one }
            }
        };
        Some(self.active[pick])
    }

    pub(crate) fn enqueue(&mut self, station: u16, id: u32, now: Instant) {
        self.touch(now);
        self.queued += 1;
        self.stations[usize::from(station)].queue.push_back(id);
    }

    pub(crate) fn dequeue(&mut self, station: u16, now: Instant) -> Option<u32> {
        let id = self.stations[usize::from(station)].queue.pop_front()?;
        self.touch(now);
        self.queued -= 1;
        Some(id)
    }

    /// Takes a slot; returns the group it belongs to.
    pub(crate) fn occupy(&mut self, station: u16, now: Instant) -> u16 {
        self.touch(now);
        self.busy += 1;
        let station = &mut self.stations[usize::from(station)];
        station.busy += 1;
        let group = if self.balance == Balance::Shared && self.groups.len() > 1 {
            let free = |g: &GroupState| g.slots.saturating_sub(g.busy);
            let mut nth = self.rng.below(self.groups.iter().map(free).sum::<u32>().max(1));
            let mut chosen = 0;
            for (index, group) in self.groups.iter().enumerate() {
                chosen = index as u16;
                if nth < free(group) {
                    break;
                }
                nth -= free(group);
            }
            chosen
        } else {
            station.group
        };
        self.groups[usize::from(group)].busy += 1;
        group
    }

    pub(crate) fn vacate(&mut self, station: u16, group: u16, now: Instant) {
        self.touch(now);
        self.busy -= 1;
        self.stations[usize::from(station)].busy -= 1;
        self.groups[usize::from(group)].busy -= 1;
    }

    /// How long a request of `class` in `group` works.
    pub(crate) fn draw_work(&mut self, class: u16, group: u16) -> Instant {
        let scale = self.work_scale.get(usize::from(class)).copied().unwrap_or(1.0);
        let mean = self.work * scale * self.groups[usize::from(group)].slow / self.speed;
        instant(match self.spread {
            Spread::Constant => mean,
            Spread::Exponential => self.rng.exponential(mean),
            Spread::Lognormal(cv) => self.rng.lognormal(mean, cv),
            Spread::Gamma(cv) => self.rng.gamma(mean, cv),
        })
    }

    /// Does a request of `class` in `group` fail by itself?
    pub(crate) fn draw_error(&mut self, class: u16, group: u16) -> bool {
        let own = self.errors.get(usize::from(class)).copied().unwrap_or(0.0);
        let group = self.groups[usize::from(group)].error;
        self.rng.chance(1.0 - (1.0 - own) * (1.0 - group))
    }

    /// The counts since the last call.
    pub(crate) fn take_row(&mut self, now: Instant, length: Instant) -> TierRow {
        self.touch(now);
        TierRow { seconds: seconds(length), ..std::mem::take(&mut self.row) }
    }
}
