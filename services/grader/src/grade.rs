//! The verdict: checks the hand-over against its record, plays the tail, and explains the score.

use crate::terms::{Facts, explain};
use crate::worlds::play_tail;
use episode::{AllKinds, Baselines, Episode, EpisodeError, Grade, Handover, MICRO};
use fleet::{EmbeddedFleet, Fleet};
use model::{Digest, Inspection};
use record::{Entry, Record};

/// The grade of an episode that is over.
///
/// # Errors
/// [`EpisodeError::Over`] is never one; a hand-over that does not agree with its record is played
/// again from the record, and an error only if that disagrees too.
pub async fn grade(
    kinds: AllKinds,
    handover: &Handover,
    baselines: &Baselines,
) -> Result<Grade, EpisodeError> {
    let (mut world, at_done) = hand_over(kinds, handover).await?;
    let (done, impact_at_done) = (world.tick().0.max(0), world.impact());
    let slo_held = play_tail(&mut world).await?;
    let at_end = inspect(&world).await?;
    let facts = Facts {
        baselines,
        impact_at_done,
        done,
        impact: world.impact(),
        at_done: &at_done,
        at_end: &at_end,
        so_far: 0.0,
    };
    let terms = explain(facts);
    let minutes = |micro: Option<&i64>| micro.copied().unwrap_or(0) as f64 / MICRO;
    Ok(Grade {
        score: terms.iter().map(|t| t.value).sum::<f64>().clamp(0.0, 1.0),
        terms,
        impact: world.impact() as f64 / MICRO,
        impact_noop: minutes(baselines.noop.last()),
        impact_reference: minutes(baselines.reference.last()),
        stake: baselines.d as f64 / MICRO,
        slo_held,
    })
}

/// The world at done: the one that was handed over if it is the one in the record, else the record
/// played again.
async fn hand_over(
    kinds: AllKinds,
    handover: &Handover,
) -> Result<(Episode<EmbeddedFleet>, Vec<Inspection>), EpisodeError> {
    if let Some(recorded) = last_world(&handover.record)
        && let Ok(world) = Episode::continue_from(handover, kinds).await
        && world.digest()? == recorded
    {
        return Ok((world, handover.inspections.clone()));
    }
    let fleet = EmbeddedFleet::new(kinds);
    let world = Episode::resume(fleet, kinds, &handover.record, 0).await?;
    let inspections = inspect(&world).await?;
    Ok((world, inspections))
}

/// The world's digest as the record has it, if its last step is the last thing that happened.
fn last_world(record: &Record) -> Option<Digest> {
    let last = record.entries.iter().rev().find(|e| !matches!(e, Entry::End { .. }));
    match last {
        Some(Entry::Step(step)) => Some(step.world),
        _ => None,
    }
}

async fn inspect(world: &Episode<EmbeddedFleet>) -> Result<Vec<Inspection>, EpisodeError> {
    let mut all = Vec::new();
    for id in world.scenario().topology.ids() {
        all.push(world.fleet().inspect(id).await?);
    }
    Ok(all)
}
