//! The run: the world and its loop over the agenda. What events do is in the modules they name.

use crate::agenda::{Agenda, Event, Instant, Kind, instant};
use crate::call::Failure;
use crate::config::Config;
use crate::edge::EdgeState;
use crate::output::Output;
use crate::record::Slab;
use crate::recorder::Recorder;
use crate::rng::Rng;
use crate::tier::TierState;
use crate::users::Source;

/// Everything that changes during a run.
#[derive(Debug)]
pub(crate) struct World<'c> {
    pub(crate) config: &'c Config,
    pub(crate) now: Instant,
    pub(crate) agenda: Agenda,
    pub(crate) slab: Slab,
    pub(crate) tiers: Vec<TierState>,
    /// Those of the tiers in order, then the entry of each class.
    pub(crate) edges: Vec<EdgeState>,
    pub(crate) sources: Vec<Source>,
    pub(crate) recorder: Recorder,
}

/// Simulates `config` from an empty system on.
///
/// # Panics
/// If the parts of the configuration do not fit together.
pub fn run(config: &Config) -> Output {
    config.check();
    let mut world = World::new(config);
    let end = instant(config.end);
    let interval = instant(config.interval);
    world.schedule_changes();
    world.seat_closed_users();
    world.agenda.push_tick(interval);
    let mut events = 0;
    while let Some(event) = world.agenda.pop() {
        if event.time > end {
            break;
        }
        events += 1;
        world.now = event.time;
        world.handle(event, interval);
    }
    world.recorder.finish(events)
}

impl<'c> World<'c> {
    fn new(config: &'c Config) -> Self {
        let mut label = 0;
        let mut rng = || {
            label += 1;
            Rng::new(config.seed, label)
        };
        let (mut tiers, mut edges) = (Vec::new(), Vec::new());
        for (index, tier) in config.tiers.iter().enumerate() {
            let first = edges.len();
            edges.extend(tier.edges.iter().map(|edge| EdgeState::new(edge, Some(index), rng())));
            tiers.push(TierState::new(tier, first..edges.len(), rng()));
        }
        let entries = config.classes.iter().map(|class| &class.entry);
        edges.extend(entries.map(|edge| EdgeState::new(edge, None, rng())));
        Self {
            config,
            now: 0,
            agenda: Agenda::default(),
            slab: Slab::default(),
            tiers,
            edges,
            sources: config.classes.iter().map(|_| Source::new(rng())).collect(),
            recorder: Recorder::new(config),
        }
    }

    /// Index of the entry edge of a class.
    pub(crate) fn entry(&self, class: u16) -> usize {
        self.edges.len() - self.config.classes.len() + usize::from(class)
    }

    fn handle(&mut self, event: Event, interval: Instant) {
        let id = event.subject;
        match event.kind {
            Kind::UserArrives => self.user_arrives(id as usize, event.stamp),
            Kind::UserThought => self.user_calls(id as usize),
            Kind::Change => self.change(),
            Kind::Tick => {
                self.tick(interval);
                self.agenda.push_tick(self.now + interval);
            }
            _ if !self.slab.is_current(id, event.stamp) => {}
            Kind::Inbound => self.inbound(id),
            Kind::WorkDone => self.work_done(id),
            Kind::TimedOut => self.failed(id, Failure::TimedOut),
            Kind::BackedOff => self.retry(id),
            Kind::Connected => self.connected(id),
            Kind::NoConnection => self.failed(id, Failure::NoConnection),
        }
    }

    fn tick(&mut self, interval: Instant) {
        let now = self.now;
        let tiers = self.tiers.iter_mut().map(|tier| tier.take_row(now, interval)).collect();
        let edges = self.edges.iter_mut().map(|edge| edge.take_row(interval)).collect();
        self.recorder.tick(tiers, edges);
    }
}
