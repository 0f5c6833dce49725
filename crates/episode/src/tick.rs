//! One tick: what is due, the users' demand, its rounds, the history row, alerts and
//! conditions. The same code in every body.

use crate::engine::Engine;
use crate::episode::Episode;
use crate::error::EpisodeError;
use crate::impact;
use crate::schedule::Due;
use crate::watch::{Counts, Seen};
use fleet::{Fleet, FleetError, Reply, Round};
use machine::Moving;
use model::{InstanceId, LeverPull, Motion, Order, PerClass, Report, Tick};
use scenario::resolved::Happening;

/// A component's price shows in this signal.
const REPLICAS: &str = "replicas.wanted";
/// Acknowledged writes that are gone show in this one.
const WRITES_LOST: &str = "writes.lost";

impl<F: Fleet> Episode<F> {
    /// Plays one tick; `last`: it is the last one of a step, so component digests are wanted.
    pub(crate) async fn play_tick(&mut self, last: bool) -> Result<(), EpisodeError> {
        let tick = self.engine.tick;
        self.happen(tick).await?;
        let demand = self.engine.demand.at(&self.scenario.workload, tick);
        let rounds = self.engine.mover.rounds();
        let mut counts = Counts { wanted: demand, ..Counts::default() };
        let (mut missed, mut failure, mut lateness) = (0.0, 0.0_f64, 0.0_f64);
        for round in 0..rounds {
            let at = Moving { tick, round, rounds };
            self.play_round(at, &demand, last && at.last()).await?;
            let replies = &self.replies;
            let served = self.users.judge(&demand, |of| report(replies, of));
            let delta_s = at.delta_s();
            missed +=
                impact::shortfall(&self.scenario.topology.classes, &demand, &served.good, delta_s);
            add(&mut counts.good, &served.good, delta_s);
            add(&mut counts.answered, &served.answered, delta_s);
            counts.attempts += served.attempts * delta_s;
            (failure, lateness) = (served.failure, served.lateness);
        }
        self.keep(counts);
        self.count_impact(tick, missed);
        let users = Motion { failure, lateness, load: 0.0 };
        self.engine.mover.look(&self.replies, users);
        let scenario = self.scenario.clone();
        let setups = self.setups.clone();
        let cast = crate::watch::Cast { setups: &setups, kinds: &self.cast };
        self.engine.watch.alert(&scenario, cast, tick);
        let Engine { schedule, watch, .. } = &mut self.engine;
        schedule.count(&scenario, watch, cast, tick);
        if let Some(digests) = &mut self.tick_digests {
            digests.push(self.engine.rolling.finish());
        }
        if let Some(trail) = self.trail.as_mut().filter(|_| tick >= Tick(0)) {
            trail.push(self.engine.impact);
        }
        self.told = false;
        self.engine.tick = tick.plus(1);
        Ok(())
    }

    async fn play_round(
        &mut self,
        at: Moving,
        demand: &PerClass,
        want_digest: bool,
    ) -> Result<(), EpisodeError> {
        self.exchange.fill(&self.replies, &mut self.inboxes);
        let (replies, inboxes, exchange) = (&self.replies, &mut self.inboxes, &self.exchange);
        self.users.offer(
            demand,
            |of| report(replies, of),
            |edge, calls| exchange.enter(edge, calls, inboxes),
        );
        loop {
            let round = Round { at, inboxes: &self.inboxes, want_digest };
            match self.fleet.advance(&round, &mut self.replies).await {
                Ok(()) => break,
                Err(error) => self.heal_or(error).await?,
            }
        }
        self.last.resize(self.replies.len(), None);
        for (reply, last) in self.replies.iter().zip(&mut self.last) {
            self.engine.fold(&reply.outbox, last, &mut self.buffer);
        }
        Ok(())
    }

    /// Orders, levers and notes of the scenario that are due.
    async fn happen(&mut self, tick: Tick) -> Result<(), EpisodeError> {
        while let Some((_, order)) = self.echoes.pop_front_if(|(at, _)| *at <= tick) {
            self.obey(&order).await?;
        }
        let scenario = self.scenario.clone();
        for due in self.engine.schedule.due(&scenario, tick) {
            match due {
                Due::Event(Happening::Pull { pulls, .. }) => {
                    for pull in &pulls {
                        self.pull(pull).await?;
                    }
                }
                Due::Event(Happening::Clear { pulls, .. }) => {
                    for pull in &pulls {
                        self.let_go(pull.target, pull.id).await?;
                    }
                }
                Due::Event(Happening::Order(order)) => {
                    // Another actor's order may be refused; that is its affair.
                    let _refused = self.order(&order).await?;
                }
                Due::Event(Happening::Note { component, text }) => {
                    self.engine.notes.push((tick, component, text));
                }
                Due::End(pull) => self.let_go(pull.target, pull.id).await?,
            }
            self.engine.mover.disturb();
        }
        let due = self.engine.effects.iter().any(|at| *at <= tick);
        self.engine.effects.retain(|at| *at > tick);
        if due {
            self.engine.mover.disturb();
        }
        let bursts = &scenario.workload.bursts;
        if bursts.iter().any(|b| b.from == tick || b.to == tick) {
            self.engine.mover.disturb();
        }
        Ok(())
    }

    /// Gives an order, healing on the way if need be.
    pub(crate) async fn order(
        &mut self,
        order: &Order,
    ) -> Result<Result<String, model::Refusal>, EpisodeError> {
        self.told = true;
        loop {
            match self.fleet.operate(self.engine.tick, order).await {
                Ok(told) => {
                    if told.is_ok() {
                        self.expect_effect(order);
                    }
                    return Ok(told);
                }
                Err(error) => self.heal_or(error).await?,
            }
        }
    }

    /// An accepted order moves the world when its delay is over.
    fn expect_effect(&mut self, order: &Order) {
        let operations = self.cast[order.target.at()].operations();
        let delay = operations.iter().find(|o| o.verb == order.verb).map_or(0, |o| o.delay);
        self.engine.effects.push(self.engine.tick.plus(delay));
    }

    /// Pulls a lever; those of the users' edges are the engine's own.
    pub(crate) async fn pull(&mut self, pull: &LeverPull) -> Result<(), EpisodeError> {
        let entry = pull.edge.filter(|e| self.scenario.topology.edges[e.at()].from.is_none());
        if let Some(edge) = entry {
            self.engine.pull_entry(pull, edge);
            self.users.set_fault(edge, self.engine.entry_fault(edge));
            return Ok(());
        }
        self.told = true;
        loop {
            match self.fleet.inject(self.engine.tick, pull).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(refusal)) => return Err(EpisodeError::Unfit(refusal.to_string())),
                Err(error) => self.heal_or(error).await?,
            }
        }
    }

    /// Lets go of a lever.
    pub(crate) async fn let_go(&mut self, target: InstanceId, id: u64) -> Result<(), EpisodeError> {
        if let Some(at) = self.engine.entry_faults.iter().position(|(of, _, _)| *of == id) {
            let (_, edge, _) = self.engine.entry_faults.remove(at);
            self.users.set_fault(edge, self.engine.entry_fault(edge));
            return Ok(());
        }
        self.told = true;
        loop {
            match self.fleet.clear(self.engine.tick, target, id).await {
                // A pull that never began, or is over, is nothing to let go of.
                Ok(_) => return Ok(()),
                Err(error) => self.heal_or(error).await?,
            }
        }
    }

    /// Keeps what monitoring sees of the tick.
    fn keep(&mut self, counts: Counts) {
        let scenario = self.scenario.clone();
        self.engine.watch.users(counts, &scenario);
        for (seen, reply) in self.engine.watch.seen.iter_mut().zip(&self.replies) {
            if let Some(advanced) = &reply.advanced {
                seen.row = advanced.row;
                advanced.changes.iter().for_each(|c| seen.levels.apply(c));
            }
        }
    }

    fn count_impact(&mut self, tick: Tick, missed: f64) {
        let classes = &self.scenario.topology.classes;
        let changed = self.replies.iter().any(changed);
        if tick == Tick(0) || (tick > Tick(0) && changed) {
            let lost = self.sum(WRITES_LOST);
            let fresh = (lost - self.engine.writes_lost).max(0.0);
            self.engine.writes_lost = lost;
            self.engine.impact += impact::micro(impact::lost_writes(classes, fresh));
            self.engine.replicas_now = self.sum(REPLICAS);
        }
        if tick < Tick(0) {
            return;
        }
        if tick == Tick(0) {
            self.engine.replicas_at_start = self.engine.replicas_now;
        }
        let extra = (self.engine.replicas_now - self.engine.replicas_at_start).max(0.0);
        let price = extra * self.scenario.stakes.capacity_price / 60.0;
        self.engine.impact += impact::micro(missed + price);
        self.engine.estimate(impact::micro(missed));
    }

    /// The sum of a signal over all instances whose kind has it.
    fn sum(&self, signal: &str) -> f64 {
        let cast = self.cast();
        let of = |(at, seen): (usize, &Seen)| {
            seen.signal(cast.kinds[at], &cast.setups[at], signal).unwrap_or(0.0)
        };
        self.engine.watch.seen.iter().enumerate().map(of).sum()
    }

    /// After an error of a read: heals what was lost, so that it can be asked again, or gives the
    /// error back.
    ///
    /// # Errors
    /// The error itself where nothing was lost, else why it cannot be healed.
    pub async fn mend(&mut self, error: EpisodeError) -> Result<(), EpisodeError> {
        match error {
            EpisodeError::Fleet(error) => self.heal_or(error).await,
            other => Err(other),
        }
    }

    /// Heals what a lost component needs, or gives the error back.
    pub(crate) async fn heal_or(&mut self, error: FleetError) -> Result<(), EpisodeError> {
        match error {
            FleetError::Lost { kind, seq } => self.heal(&kind, seq).await,
            other => Err(other.into()),
        }
    }
}

fn changed(reply: &Reply) -> bool {
    reply.advanced.as_ref().is_some_and(|a| !a.changes.is_empty())
}

fn report(replies: &[Reply], of: InstanceId) -> Report {
    replies.get(of.at()).map_or(Report::IDEAL, |r| r.outbox.report)
}

fn add(into: &mut PerClass, rates: &PerClass, delta_s: f64) {
    for (sum, rate) in into.iter_mut().zip(rates) {
        *sum += rate * delta_s;
    }
}
