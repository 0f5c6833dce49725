//! The users: arrivals of open classes, thinking of closed ones, admission. Their patience and
//! retries are those of their entry edge.

use crate::agenda::{Instant, Kind, NEVER, instant};
use crate::config::{Class, Users};
use crate::record::USER;
use crate::rng::Rng;
use crate::sim::World;

/// The users of a class.
#[derive(Debug)]
pub(crate) struct Source {
    /// Arrivals per second.
    rate: f64,
    admit: f64,
    /// Changes with the rate: arrivals drawn at an earlier one are stale.
    stamp: u32,
    rng: Rng,
}

impl Source {
    pub(crate) fn new(rng: Rng) -> Self {
        Self { rate: 0.0, admit: 1.0, stamp: 0, rng }
    }

    /// The values of the schedules at `time` (s); true if arrivals have to be drawn anew.
    pub(crate) fn refresh(&mut self, config: &Class, time: f64) -> bool {
        self.admit = config.admit.at(time);
        let Users::Open { rate } = &config.users else {
            return false;
        };
        let rate = rate.at(time);
        let changed = rate.to_bits() != self.rate.to_bits();
        self.rate = rate;
        self.stamp += u32::from(changed);
        changed
    }
}

impl World<'_> {
    /// Draws the next arrival of an open class.
    pub(crate) fn expect_user(&mut self, class: usize) {
        let source = &mut self.sources[class];
        if source.rate > 0.0 {
            let next = self.now + instant(source.rng.exponential(1.0 / source.rate));
            self.agenda.push(next, Kind::UserArrives, class as u32, source.stamp);
        }
    }

    /// Lets the users of the closed classes begin to think.
    pub(crate) fn seat_closed_users(&mut self) {
        for (class, config) in self.config.classes.iter().enumerate() {
            if let Users::Closed { count, .. } = config.users {
                (0..count).for_each(|_| self.think(class));
            }
        }
    }

    fn think(&mut self, class: usize) {
        let Users::Closed { think, .. } = self.config.classes[class].users else {
            return;
        };
        let pause: Instant = instant(self.sources[class].rng.exponential(think));
        self.agenda.push(self.now + pause, Kind::UserThought, class as u32, 0);
    }

    /// An arrival of an open class.
    pub(crate) fn user_arrives(&mut self, class: usize, stamp: u32) {
        if self.sources[class].stamp == stamp {
            self.expect_user(class);
            self.user_calls(class);
        }
    }

    /// A user wants something, and is let in or not.
    pub(crate) fn user_calls(&mut self, class: usize) {
        self.recorder.offered(self.now, class);
        let source = &mut self.sources[class];
        let shut = 1.0 - source.admit;
        if source.rng.chance(shut) {
            self.recorder.shed(self.now, class);
            self.recorder.ended(self.now, self.now, class, false);
            return self.think(class);
        }
        let id = self.slab.insert(USER, class as u16, self.now, NEVER);
        self.slab[id].calls_left = 1;
        self.proceed(id);
    }

    /// A user has got an answer or given up.
    pub(crate) fn user_leaves(&mut self, id: u32, good: bool) {
        let record = self.slab[id];
        self.slab.remove(id);
        let class = usize::from(record.class);
        self.recorder.ended(record.since, self.now, class, good);
        self.think(class);
    }
}
