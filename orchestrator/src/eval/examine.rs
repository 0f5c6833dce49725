//! From an episode that an agent has left to what it was worth.

use super::outcome::{Assessment, Curves};
use crate::sessions::{HandedOff, Sessions};
use episode::{Episode, EpisodeError, External, MICRO, scenario_of};
use fleet::EmbeddedFleet;
use grader::worlds::play_tail;
use model::EpisodeId;
use record::Record;
use scenario::Scenario;
use std::sync::Arc;

/// Hands the episode off where it stands, and says what it was worth.
///
/// # Errors
/// A failure outside the simulation, for the operator.
pub async fn examine(sessions: &Sessions, id: EpisodeId) -> Result<Assessment, String> {
    let ended = Box::pin(sessions.hand_off(id)).await.map_err(|error| error.to_string())?;
    let HandedOff { record, grade, baselines } = &ended;
    let scenario = Arc::new(scenario_of(record).map_err(|error| error.to_string())?);
    let trail = Box::pin(trail(record, scenario.clone())).await.map_err(|e| e.to_string())?;
    let impact = trail.last().copied().unwrap_or_default();
    if impact != (grade.impact * MICRO).round() as i64 {
        return Err(format!(
            "the world of the record has an impact of {} user-minutes, the graded one of {}",
            impact as f64 / MICRO,
            grade.impact
        ));
    }
    let last = record.steps().last();
    let (tick, end) = record.end().ok_or("the record has no end")?;
    Ok(Assessment {
        world_seed: record.header.seed,
        score: grade.score,
        terms: grade.terms.clone(),
        impact: grade.impact,
        impact_noop: grade.impact_noop,
        impact_reference: grade.impact_reference,
        stake: grade.stake,
        slo_held: grade.slo_held,
        steps: last.map_or(0, |step| step.number),
        seconds: seconds(tick.0),
        end: end.into(),
        world: last.map(|step| step.world).unwrap_or_default().to_string(),
        curves: curves(&scenario, &trail, &baselines.noop, &baselines.reference),
    })
}

/// Cumulative impact of the record's world before each tick to its end, micro-user-minutes.
async fn trail(record: &Record, scenario: Arc<Scenario>) -> Result<Vec<i64>, EpisodeError> {
    let (kinds, header) = (fleet::kinds(), &record.header);
    let fleet = EmbeddedFleet::new(kinds);
    let mut world = Episode::prepare(fleet, kinds, scenario, header.episode, header.seed, 0)?;
    world.begin().await?;
    world.shadow(Vec::new());
    for input in record.inputs() {
        match External::of(input)? {
            External::Action(action) => drop(world.step(&action).await?),
            External::Control(order) => world.control(&order).await?,
        }
    }
    play_tail(&mut world).await?;
    Ok(world.trail().to_vec())
}

fn curves(scenario: &Scenario, agent: &[i64], noop: &[i64], reference: &[i64]) -> Curves {
    let every_s = Curves::pace(agent.len().saturating_sub(1));
    Curves {
        every_s,
        horizon_s: seconds(scenario.timing.horizon.0),
        end_s: seconds(scenario.timing.end.0),
        agent: Curves::sample(agent, every_s),
        noop: Curves::sample(noop, every_s),
        reference: Curves::sample(reference, every_s),
    }
}

fn seconds(tick: i64) -> u32 {
    u32::try_from(tick.max(0)).unwrap_or(u32::MAX)
}
