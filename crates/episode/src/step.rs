//! One step: the action becomes orders, reads or a claim; its time passes; the agent observes; the
//! record gets its entries; the judge says what it is worth.

use crate::episode::Episode;
use crate::error::EpisodeError;
use crate::input::{ControlOrder, External};
use crate::judge::{Baselines, Grade, Judge};
use crate::observe::{ActionResult, Observation, over};
use action::{Action, Effect};
use fleet::{EmbeddedFleet, Fleet};
use model::{Digest, Digester, Order};
use record::{Actor, EndReason, Entry, Input, Step};
use std::sync::Arc;

/// What a step came to.
#[derive(Clone, Debug, PartialEq)]
pub struct StepReply {
    /// What the agent sees.
    pub observation: Observation,
    /// Digest of the world after it.
    pub world: Digest,
}

impl<F: Fleet> Episode<F> {
    /// Takes one action of the agent.
    ///
    /// # Errors
    /// [`EpisodeError::Action`] where the action does not fit and [`EpisodeError::Over`] where the
    /// episode is over: nothing has happened then. Others are the simulator's own failures: the
    /// input is recorded, and the episode goes on from its record.
    pub async fn step(&mut self, action: &Action) -> Result<StepReply, EpisodeError> {
        if let Some(end) = self.engine.end {
            return Err(EpisodeError::Over(over(end)));
        }
        let effect = action.effect(&self.site())?;
        let from = self.engine.tick;
        self.note_input(&External::Action(action.clone()))?;
        self.engine.steps += 1;
        let mut result = self.apply(action, &effect).await?;
        // A line's commands have taken their time already.
        let taken = self.engine.tick.since(from) as u32;
        self.pass(action.duration_s().saturating_sub(taken)).await?;
        if let Effect::Read(reading) = &effect {
            result.data = Some(loop {
                match self.answer(reading).await {
                    Ok(data) => break data,
                    Err(error) => self.mend(error).await?,
                }
            });
        }
        if effect == Effect::Resolve {
            self.engine.end = Some(EndReason::Resolved);
        } else if self.engine.tick >= self.scenario.timing.horizon {
            self.engine.end = Some(EndReason::Horizon);
        } else if self.engine.steps >= self.scenario.timing.step_limit {
            self.engine.end = Some(EndReason::StepLimit);
        }
        let observation = self.observe(Some(result));
        let world = self.close(from, &observation).await?;
        Ok(StepReply { observation, world })
    }

    /// Takes one order of the control port.
    ///
    /// # Errors
    /// As [`Episode::step`]; a lever that its component does not have is [`EpisodeError::Unfit`].
    pub async fn control(&mut self, order: &ControlOrder) -> Result<(), EpisodeError> {
        if let Some(end) = self.engine.end {
            return Err(EpisodeError::Over(over(end)));
        }
        self.note_input(&External::Control(order.clone()))?;
        match order {
            ControlOrder::Advance { ticks } => {
                self.pass(*ticks).await?;
                if self.engine.tick >= self.scenario.timing.horizon {
                    self.engine.end = Some(EndReason::Horizon);
                }
            }
            order => self.obey(order).await?,
        }
        if let Some(reason) = self.engine.end {
            self.record.entries.push(Entry::End { tick: self.engine.tick, reason });
        }
        Ok(())
    }

    /// Does what the control port ordered, which takes no time. Called from within a tick, too.
    pub(crate) async fn obey(&mut self, order: &ControlOrder) -> Result<(), EpisodeError> {
        match order {
            ControlOrder::Inject(pulls) => {
                for pull in pulls {
                    self.pull(pull).await?;
                }
            }
            ControlOrder::Clear { target, id } => self.let_go(*target, *id).await?,
            // The world does not notice that nobody acts any more.
            ControlOrder::Abandon => {
                self.engine.end = Some(EndReason::Abandoned);
                return Ok(());
            }
            // No order to the world: `control` lets the time pass.
            ControlOrder::Advance { .. } => return Ok(()),
        }
        self.engine.mover.disturb();
        Ok(())
    }

    fn note_input(&mut self, input: &External) -> Result<(), EpisodeError> {
        let body = input.body()?;
        self.engine.inputs += 1;
        let (seq, tick) = (self.engine.inputs, self.engine.tick);
        self.record.entries.push(Entry::Input(Input { seq, tick, actor: input.actor(), body }));
        Ok(())
    }

    /// What the action becomes, before its time passes.
    async fn apply(
        &mut self,
        action: &Action,
        effect: &Effect,
    ) -> Result<ActionResult, EpisodeError> {
        let mut data = None;
        let (ok, message) = match effect {
            Effect::Orders(orders) => self.orders(orders).await?,
            Effect::Shell { host, command } => {
                let (said, ok) = self.type_line(*host, command).await?;
                data = Some(said);
                (ok, String::new())
            }
            Effect::Read(_) => (true, String::new()),
            Effect::Wait(seconds) => (true, format!("waited {seconds} s")),
            Effect::Declare(claim) => {
                self.engine.claims.push((self.engine.tick, claim.clone()));
                (true, "noted".to_string())
            }
            Effect::Resolve => (true, "incident resolved".to_string()),
        };
        Ok(ActionResult { action: action.name().into(), ok, message, data })
    }

    async fn orders(&mut self, orders: &[Order]) -> Result<(bool, String), EpisodeError> {
        let (mut ok, mut told) = (true, Vec::new());
        for order in orders {
            let name = &self.scenario.topology.instances[order.target.at()].name;
            let name = name.clone();
            match self.order(order).await? {
                Ok(message) => told.push(format!("{name}: {message}")),
                Err(refusal) => {
                    ok = false;
                    told.push(format!("{name} refused: {refusal}"));
                }
            }
        }
        told.dedup();
        Ok((ok, told.join("; ")))
    }

    /// Lets time pass, to the end of the agent's phase at most.
    pub(crate) async fn pass(&mut self, seconds: u32) -> Result<(), EpisodeError> {
        let until = self.engine.tick.plus(i64::from(seconds)).min(self.scenario.timing.horizon);
        while self.engine.tick < until {
            let last = self.engine.tick.plus(1) >= until;
            self.play_tick(last).await?;
        }
        Ok(())
    }

    /// Writes the step down.
    async fn close(
        &mut self,
        from: model::Tick,
        observation: &Observation,
    ) -> Result<Digest, EpisodeError> {
        let reply = observation.digest()?;
        let world = self.world_digest().await?;
        self.record.entries.push(Entry::Step(Step {
            number: self.engine.steps,
            from,
            to: self.engine.tick,
            reply,
            world,
            impact_micro: self.engine.impact,
        }));
        if let Some(reason) = self.engine.end {
            self.record.entries.push(Entry::End { tick: self.engine.tick, reason });
        }
        Ok(world)
    }

    /// Digest of the engine and of every component. The components' own come with the last round
    /// of the step; a step that took no time has those of the step before.
    async fn world_digest(&mut self) -> Result<Digest, EpisodeError> {
        if self.told {
            // Told something, and no tick since: the digests at hand are of before.
            let savepoint = self.save().await?;
            let mut now = EmbeddedFleet::new(self.kinds);
            now.restore(&self.roster(), &savepoint).await?;
            for (reply, instance) in self.replies.iter_mut().zip(now.instances()) {
                reply.digest = Some(instance.digest()?);
            }
            self.told = false;
        }
        let mut digester = Digester::default();
        digester.digest(self.engine.digest()?);
        for reply in &self.replies {
            digester.digest(reply.digest.unwrap_or_default());
        }
        Ok(digester.finish())
    }
}

/// Rewards of one episode: a step pays the running score under the present baselines less all that
/// was paid, and the last step pays the rest of the score. So their sum is the score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Purse {
    paid: f64,
    /// The baselines after so many control inputs: they depend on nothing else that changes.
    known: Option<(usize, Arc<Baselines>)>,
}

impl Purse {
    /// What a step pays that left the world at `tick` with this impact.
    pub fn step(&mut self, baselines: &Baselines, tick: i64, impact: i64) -> f64 {
        let reward = baselines.running(tick, impact) - self.paid;
        self.paid += reward;
        reward
    }

    /// What the last step pays.
    pub fn settle(&mut self, grade: &Grade) -> f64 {
        let reward = grade.score - self.paid;
        self.paid += reward;
        reward
    }

    /// What was paid so far.
    pub fn paid(&self) -> f64 {
        self.paid
    }
}

impl<F: Fleet> Episode<F> {
    /// The reward of the step that was just taken, and the grade if it was the last one.
    ///
    /// # Errors
    /// Where the judge cannot be asked, or a component cannot be asked for the hand-over.
    pub async fn reward<J: Judge>(
        &mut self,
        judge: &J,
        purse: &mut Purse,
    ) -> Result<(f64, Option<Grade>), EpisodeError> {
        if self.engine.end.is_none() {
            let baselines = self.baselines(judge, purse).await?;
            return Ok((purse.step(&baselines, self.engine.tick.0, self.engine.impact), None));
        }
        let handover = loop {
            match self.hand_over().await {
                Ok(handover) => break handover,
                Err(error) => self.mend(error).await?,
            }
        };
        let grade = judge.grade(&handover).await?;
        Ok((purse.settle(&grade), Some(grade)))
    }

    /// The baselines of the record so far; the judge is asked again only after a control input.
    async fn baselines<J: Judge>(
        &self,
        judge: &J,
        purse: &mut Purse,
    ) -> Result<Arc<Baselines>, EpisodeError> {
        let controls = self.record.inputs().filter(|i| i.actor == Actor::Control).count();
        if let Some((of, baselines)) = &purse.known
            && *of == controls
        {
            return Ok(baselines.clone());
        }
        let baselines = judge.baselines(&self.scenario, &self.record).await?;
        purse.known = Some((controls, baselines.clone()));
        Ok(baselines)
    }
}
