//! One episode of a batch: from reset to grade, every step kept before the next one is taken.

use crate::agent::{AgentSpec, Start};
use crate::export::{Export, Hub};
use crate::failure::Failure;
use crate::keeper::Keeper;
use episode::{Episode, Grade, Judge, Purse, Term};
use fleet::{AnyFleet, Fleet};
use model::{Digest, Digester, EpisodeId};
use record::{EndReason, Store};
use scenario::Scenario;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::Instrument;

/// What is to be played.
#[derive(Clone, Debug)]
pub struct Job {
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The seed.
    pub seed: u64,
    /// Who plays.
    pub agent: &'static AgentSpec,
    /// The episode.
    pub episode: EpisodeId,
}

impl Job {
    /// A job; its episode follows from scenario, seed and agent, so that it is found again.
    ///
    /// # Errors
    /// Where the scenario has no canonical form.
    pub fn new(
        scenario: Arc<Scenario>,
        seed: u64,
        agent: &'static AgentSpec,
    ) -> Result<Job, Failure> {
        let mut digester = Digester::default();
        digester.bytes(b"run");
        digester.digest(scenario.hash().map_err(Failure::failed)?);
        digester.word(seed);
        digester.bytes(agent.name.as_bytes());
        let episode = EpisodeId(digester.finish().0);
        Ok(Job { scenario, seed, agent, episode })
    }
}

/// When the reward is paid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum RewardMode {
    /// With every step: what the step was worth.
    #[default]
    Dense,
    /// With the last step: the score.
    Final,
}

/// How episodes of a batch are played.
#[derive(Debug)]
pub struct Rules<'a, J> {
    /// Who grades.
    pub judge: &'a J,
    /// When the reward is paid.
    pub reward: RewardMode,
    /// Where records go.
    pub store: &'a dyn Store,
    /// Goes on where there is a record already.
    pub resume: bool,
    /// Records are kept, so an episode may be left and gone on with later.
    pub keeps: bool,
    /// Where simulated telemetry goes.
    pub export: Option<&'a Arc<Hub>>,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

/// What an episode came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Name of the scenario.
    pub scenario: String,
    /// Nothing was broken in it.
    pub healthy: bool,
    /// The seed.
    pub seed: u64,
    /// Name of the agent.
    pub agent: &'static str,
    /// The episode.
    #[serde(serialize_with = "as_text")]
    pub episode: EpisodeId,
    /// The score, 0..=1.
    pub score: f64,
    /// What it is made of.
    pub terms: Vec<Term>,
    /// Rewards of the steps; their sum is the score.
    pub rewards: Vec<f64>,
    /// Impact at the end, user-minutes.
    pub impact: f64,
    /// The same if nobody had acted.
    pub impact_noop: f64,
    /// The same with the reference plan.
    pub impact_reference: f64,
    /// Harm that counts as the whole of the score.
    pub stake: f64,
    /// Every objective held at the end.
    pub slo_held: bool,
    /// Steps taken.
    pub steps: u32,
    /// Why it is over.
    pub end: EndReason,
    /// Digest of the world after the last step.
    #[serde(serialize_with = "as_text")]
    pub world: Digest,
}

fn as_text<T: ToString, S: serde::Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&value.to_string())
}

/// How playing ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Played {
    /// It is over and graded.
    Over(Box<Outcome>),
    /// The user wanted to stop; what was played is kept.
    Saved,
}

/// Plays one job in this fleet.
///
/// # Errors
/// Where a component, the grader or the store fails; what was kept can be gone on with.
pub async fn play<J: Judge>(
    job: &Job,
    rules: &Rules<'_, J>,
    fleet: AnyFleet,
) -> Result<Played, Failure> {
    let (mut keeper, epoch) = Keeper::open(job.episode, rules)?;
    let Job { scenario, seed, .. } = job;
    let (kinds, id) = (fleet::kinds(), job.episode);
    let mut episode = Episode::prepare(fleet, kinds, scenario.clone(), id, *seed, epoch)?;
    keeper.begin(&episode.record().header, epoch)?;
    let played = Box::pin(follow(job, rules, &mut episode, &mut keeper)).await;
    // Processes forget it; one that cannot be reached forgets it later by itself.
    let _ = episode.fleet_mut().drop_episode().await;
    played
}

async fn follow<J: Judge>(
    job: &Job,
    rules: &Rules<'_, J>,
    episode: &mut Episode<AnyFleet>,
    keeper: &mut Keeper<'_>,
) -> Result<Played, Failure> {
    Box::pin(episode.begin()).await?;
    let noise = episode.noise_for("agent").branch(job.agent.name);
    let mut agent = (job.agent.make)(Start { scenario: &job.scenario, noise });
    let mut seen = episode.observe(None);
    let (mut purse, mut rewards) = (Purse::default(), Vec::new());
    let mut export = rules.export.map(|hub| Export::new(hub.clone(), episode));
    loop {
        if rules.keeps && rules.stop.load(Ordering::Relaxed) {
            return Ok(Played::Saved);
        }
        let action = agent.act(&seen, &episode.site());
        let span = tracing::info_span!("agent.step", episode = %job.episode);
        seen = Box::pin(episode.step(&action)).instrument(span.clone()).await?.observation;
        keeper.keep(&episode.record().entries)?;
        if let Some(export) = &mut export {
            Box::pin(export.publish(episode)).await;
        }
        if !seen.done && rules.reward == RewardMode::Final {
            rewards.push(0.0);
            continue;
        }
        let paid = Box::pin(episode.reward(rules.judge, &mut purse)).instrument(span);
        let (reward, grade) = paid.await?;
        rewards.push(reward);
        if let Some(grade) = grade {
            // Grading has healed what was lost meanwhile.
            if let Some(export) = &mut export {
                Box::pin(export.publish(episode)).await;
            }
            keeper.score(&grade)?;
            return Ok(Played::Over(Box::new(outcome(job, episode, grade, rewards))));
        }
    }
}

fn outcome(job: &Job, episode: &Episode<AnyFleet>, grade: Grade, rewards: Vec<f64>) -> Outcome {
    let last = episode.record().steps().last();
    Outcome {
        scenario: job.scenario.name.clone(),
        healthy: job.scenario.healthy,
        seed: job.seed,
        agent: job.agent.name,
        episode: job.episode,
        score: grade.score,
        terms: grade.terms,
        rewards,
        impact: grade.impact,
        impact_noop: grade.impact_noop,
        impact_reference: grade.impact_reference,
        stake: grade.stake,
        slo_held: grade.slo_held,
        steps: episode.steps(),
        end: episode.ended().unwrap_or(EndReason::Abandoned),
        world: last.map(|step| step.world).unwrap_or_default(),
    }
}
