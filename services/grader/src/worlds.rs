//! Other worlds of the same scenario, seed and control inputs: what would have happened if nobody
//! had done anything, or if a given plan had been followed.

use action::Action;
use episode::{AllKinds, Baselines, ControlOrder, Episode, EpisodeError, External, MICRO};
use fleet::EmbeddedFleet;
use model::{EpisodeId, Tick};
use record::{Actor, Record};
use scenario::Scenario;
use std::sync::Arc;

/// One world played to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// Cumulative impact before each tick from 0 to the end, micro-user-minutes.
    pub trail: Vec<i64>,
    /// Every objective held throughout the hold window at the end.
    pub slo_held: bool,
    /// The page fired at tick 0.
    pub paged: bool,
    /// Whether each action of the plan was accepted.
    pub accepted: Vec<bool>,
}

impl World {
    /// Impact at the end, micro-user-minutes.
    pub fn impact(&self) -> i64 {
        self.trail.last().copied().unwrap_or(0)
    }
}

/// Plays other worlds; after the warm-up all of them are forks of one.
#[derive(Debug)]
pub struct Worlds {
    page: Episode<EmbeddedFleet>,
    controls: Vec<(Tick, ControlOrder)>,
}

impl Worlds {
    /// The worlds of this scenario and seed, in which the control port gives these inputs.
    ///
    /// # Errors
    /// Where the scenario does not fit this build.
    pub async fn new(
        kinds: AllKinds,
        scenario: Arc<Scenario>,
        seed: u64,
        controls: Vec<(Tick, ControlOrder)>,
    ) -> Result<Worlds, EpisodeError> {
        let fleet = EmbeddedFleet::new(kinds);
        let mut page = Episode::prepare(fleet, kinds, scenario, EpisodeId(0), seed, 0)?;
        page.begin().await?;
        Ok(Worlds { page, controls })
    }

    /// The scenario.
    pub fn scenario(&self) -> &Arc<Scenario> {
        self.page.scenario()
    }

    /// The world at the page.
    pub fn page(&self) -> &Episode<EmbeddedFleet> {
        &self.page
    }

    /// The world in which this plan is followed from the page on; afterwards nobody does anything.
    ///
    /// # Errors
    /// Where an action of the plan does not fit.
    pub async fn follow(&self, plan: &[Action]) -> Result<World, EpisodeError> {
        let mut world = self.page.fork();
        let paged = world.paging();
        world.shadow(self.controls.clone());
        let mut accepted = Vec::with_capacity(plan.len());
        for action in plan {
            if world.ended().is_some() {
                break;
            }
            let reply = world.step(action).await?;
            accepted.push(reply.observation.result.is_none_or(|r| r.ok));
        }
        let slo_held = play_tail(&mut world).await?;
        Ok(World { trail: world.trail().to_vec(), slo_held, paged, accepted })
    }

    /// The baselines of this scenario and seed.
    ///
    /// # Errors
    /// Where the reference plan does not fit.
    pub async fn baselines(&self) -> Result<Baselines, EpisodeError> {
        let scenario = self.scenario();
        let noop = self.follow(&[]).await?;
        let reference = self.follow(&scenario.truth.reference).await?;
        let stake = (scenario.stakes.stake * MICRO) as i64;
        let saved = noop.impact() - reference.impact();
        let d = if scenario.healthy { stake } else { saved.max(stake) };
        let healthy = scenario.healthy;
        Ok(Baselines { noop: noop.trail, reference: reference.trail, d: d.max(1), healthy })
    }
}

/// Plays a world to its end without an agent; whether every objective held in the hold window.
///
/// # Errors
/// Never in practice: an embedded fleet cannot lose a component.
pub async fn play_tail(world: &mut Episode<EmbeddedFleet>) -> Result<bool, EpisodeError> {
    let scenario = world.scenario().clone();
    let end = scenario.timing.end;
    let hold = end.plus(-i64::from(scenario.stakes.slo_hold_s));
    let mut held = true;
    world.play_to(hold.max(world.tick())).await?;
    while world.tick() < end {
        world.play_to(world.tick().plus(1)).await?;
        held &= world.objectives_met();
    }
    Ok(held)
}

/// The control inputs of a record, with their ticks.
///
/// # Errors
/// Where one is not of this build.
pub fn controls(record: &Record) -> Result<Vec<(Tick, ControlOrder)>, EpisodeError> {
    let mut controls = Vec::new();
    for input in record.inputs().filter(|i| i.actor == Actor::Control) {
        if let External::Control(order) = External::of(input)?
            && order.is_of_the_world()
        {
            controls.push((input.tick, order));
        }
    }
    Ok(controls)
}
