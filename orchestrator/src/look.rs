//! Looking back: a record played again step by step in this process, every digest compared.

use crate::failure::Failure;
use episode::{
    ControlOrder, Episode, EpisodeError, External, Grade, Judge, Observation, scenario_of,
};
use fleet::EmbeddedFleet;
use grader::LocalJudge;
use model::Tick;
use record::{Entry, Record};
use std::sync::Arc;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// The agent took a step; its digests agree with the record.
    Step {
        /// The world before it.
        from: Tick,
        /// The action, canonical JSON.
        action: String,
        /// What it observed, boxed: the other is small.
        observation: Box<Observation>,
        /// Impact after it, micro-user-minutes.
        impact: i64,
    },
    /// The control port did something.
    Control {
        /// When.
        at: Tick,
        /// The order, canonical JSON.
        order: String,
    },
}

/// How far to play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Until {
    /// Steps to take at most.
    pub steps: Option<u32>,
    /// No step that begins at or after this tick.
    pub tick: Option<Tick>,
}

/// Plays a record up to a point. `see` is told what happens.
///
/// # Errors
/// [`EpisodeError::Diverged`] where this build simulates otherwise.
pub async fn play(
    record: &Record,
    until: Until,
    see: &mut (dyn FnMut(Seen) + Send),
) -> Result<Episode<EmbeddedFleet>, EpisodeError> {
    let kinds = fleet::kinds();
    let scenario = Arc::new(scenario_of(record)?);
    let header = &record.header;
    let fleet = EmbeddedFleet::new(kinds);
    let mut episode = Episode::prepare(fleet, kinds, scenario, header.episode, header.seed, 0)?;
    Box::pin(episode.begin()).await?;
    for entry in &record.entries {
        let at = episode.tick();
        let enough = until.steps.is_some_and(|steps| episode.steps() >= steps)
            || until.tick.is_some_and(|tick| at >= tick);
        match entry {
            Entry::Input(_) if enough => break,
            Entry::Input(input) => match External::of(input)? {
                External::Action(action) => {
                    let reply = Box::pin(episode.step(&action)).await?;
                    see(Seen::Step {
                        from: at,
                        action: input.body.clone(),
                        observation: Box::new(reply.observation),
                        impact: episode.impact(),
                    });
                }
                External::Control(order) => {
                    Box::pin(episode.control(&order)).await?;
                    see(Seen::Control { at, order: input.body.clone() });
                }
            },
            Entry::Step(step) => episode.agrees(step)?,
            Entry::End { .. } => {}
        }
    }
    Ok(episode)
}

/// The grade of an episode as it stands; one that is not over is left here.
///
/// # Errors
/// Where the record is not of this build.
pub async fn grade(episode: &Episode<EmbeddedFleet>) -> Result<Grade, Failure> {
    let mut episode = episode.fork();
    if episode.ended().is_none() {
        Box::pin(episode.control(&ControlOrder::Abandon)).await?;
    }
    let handover = Box::pin(episode.hand_over()).await?;
    Ok(Box::pin(LocalJudge::new(fleet::kinds()).grade(&handover)).await?)
}
