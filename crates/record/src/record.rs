//! The record of one episode: its scenario and seed, every input from outside in order, and what
//! each step came to. Replies are not kept, they can be computed again. Pure data; nothing in it
//! depends on when, where or in which kind of fleet the episode was played.

use crate::error::RecordError;
use model::{Digest, Digester, EpisodeId, Tick};
use serde::{Deserialize, Serialize};

/// Revision of the world: what a given record plays to. Raise it by one whenever a golden digest
/// changes, and say why in the changelog; older records are then refused instead of played wrong.
pub const WORLD_REVISION: u32 = 1;

/// Version of the bytes of a record. Raise it when a field is added, removed or renamed.
pub const FORMAT: u32 = 1;

/// What an episode is played from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version of the bytes, [`FORMAT`] where it was written.
    pub format: u32,
    /// Revision of the world, [`WORLD_REVISION`] where it was played.
    pub world: u32,
    /// The episode.
    pub episode: EpisodeId,
    /// Its seed.
    pub seed: u64,
    /// Name of the scenario, for people.
    pub scenario_name: String,
    /// The whole resolved scenario as canonical JSON.
    pub scenario: String,
}

impl Header {
    /// The header of an episode played by this program.
    pub fn new(episode: EpisodeId, seed: u64, scenario_name: &str, scenario: String) -> Header {
        let scenario_name = scenario_name.to_string();
        Header { format: FORMAT, world: WORLD_REVISION, episode, seed, scenario_name, scenario }
    }
}

/// Who gave an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The agent, through its port.
    Agent,
    /// An experimenter, through the control port.
    Control,
}

impl Actor {
    /// The word in the record.
    pub const fn word(self) -> &'static str {
        match self {
            Actor::Agent => "agent",
            Actor::Control => "control",
        }
    }
}

/// One input from outside, before it took effect.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Position among the inputs of the episode, from 1.
    pub seq: u64,
    /// The tick the world stood at.
    pub tick: Tick,
    /// Who gave it.
    pub actor: Actor,
    /// The action or the control order as canonical JSON.
    pub body: String,
}

/// What one step came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Position among the steps of the episode, from 1.
    pub number: u32,
    /// The tick the world stood at before.
    pub from: Tick,
    /// The tick it stood at after; the same as `from` for a step that took no time.
    pub to: Tick,
    /// Digest of the reply.
    pub reply: Digest,
    /// Digest of the world after the step.
    pub world: Digest,
    /// Impact since tick 0, millionths of a user-minute.
    pub impact_micro: i64,
}

impl Step {
    /// The first thing in which a replayed step differs from this one; nothing where it is equal.
    pub fn difference(&self, replayed: &Step) -> Option<String> {
        let pairs = [
            ("number", self.number.to_string(), replayed.number.to_string()),
            ("begin", self.from.0.to_string(), replayed.from.0.to_string()),
            ("end", self.to.0.to_string(), replayed.to.0.to_string()),
            ("world", self.world.to_string(), replayed.world.to_string()),
            ("impact", self.impact_micro.to_string(), replayed.impact_micro.to_string()),
            ("reply", self.reply.to_string(), replayed.reply.to_string()),
        ];
        let differs = pairs.into_iter().find(|(_, recorded, now)| recorded != now);
        differs.map(|(what, recorded, now)| {
            format!("the record says {what} {recorded}, the replay gives {now}")
        })
    }
}

/// Why an episode is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The agent declared the incident resolved.
    Resolved,
    /// The agent's phase ran out.
    Horizon,
    /// The agent used all its steps.
    StepLimit,
    /// Nobody played on.
    Abandoned,
}

impl EndReason {
    /// All of them.
    pub const ALL: [EndReason; 4] =
        [EndReason::Resolved, EndReason::Horizon, EndReason::StepLimit, EndReason::Abandoned];

    /// The word in the record.
    pub const fn word(self) -> &'static str {
        match self {
            EndReason::Resolved => "resolved",
            EndReason::Horizon => "horizon",
            EndReason::StepLimit => "step_limit",
            EndReason::Abandoned => "abandoned",
        }
    }
}

/// One line of a record after its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Something came from outside.
    Input(Input),
    /// A step was done.
    Step(Step),
    /// The episode is over; nothing follows.
    End {
        /// The tick the world stands at from now on.
        tick: Tick,
        /// Why.
        reason: EndReason,
    },
}

impl Entry {
    /// The tick the world stands at after it.
    pub fn tick(&self) -> Tick {
        match self {
            Entry::Input(input) => input.tick,
            Entry::Step(step) => step.to,
            Entry::End { tick, .. } => *tick,
        }
    }
}

/// A whole record, or what there is of one so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it is played from.
    pub header: Header,
    /// What happened, oldest first.
    pub entries: Vec<Entry>,
}

impl Record {
    /// The inputs in order.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Input(input) => Some(input),
            _ => None,
        })
    }

    /// The steps in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Step(step) => Some(step),
            _ => None,
        })
    }

    /// Tick and reason of the end, if it is over.
    pub fn end(&self) -> Option<(Tick, EndReason)> {
        match self.entries.last() {
            Some(Entry::End { tick, reason }) => Some((*tick, *reason)),
            _ => None,
        }
    }

    /// Digest of the canonical bytes.
    pub fn digest(&self) -> Digest {
        Digester::of(self.to_jsonl().as_bytes())
    }

    /// Whether this program can play the record: a known format, this world revision, and entries
    /// without a gap.
    ///
    /// # Errors
    /// [`RecordError::OtherFormat`], [`RecordError::OtherWorld`] or [`RecordError::Broken`].
    pub fn check(&self) -> Result<(), RecordError> {
        let Header { format, world, .. } = self.header;
        if format != FORMAT {
            return Err(RecordError::OtherFormat { theirs: format, ours: FORMAT });
        }
        if world != WORLD_REVISION {
            return Err(RecordError::OtherWorld { theirs: world, ours: WORLD_REVISION });
        }
        let broken = |entry, problem| Err(RecordError::Broken { entry, problem });
        if !is_json(&self.header.scenario) {
            return broken(0, "the scenario is not JSON".into());
        }
        let mut course = Course::default();
        for (at, entry) in self.entries.iter().enumerate() {
            if let Some(problem) = course.follow(entry) {
                return broken(at + 1, problem);
            }
        }
        Ok(())
    }
}

/// How far a record has been followed.
#[derive(Default)]
struct Course {
    seq: u64,
    step: u32,
    tick: Option<Tick>,
    /// The control port may have let time pass.
    steered: bool,
    over: bool,
}

impl Course {
    /// Goes one entry further, or says why it cannot be the next one.
    fn follow(&mut self, entry: &Entry) -> Option<String> {
        if self.over {
            return Some("follows the end of the episode".into());
        }
        match entry {
            Entry::Input(input) => {
                self.seq += 1;
                if input.seq != self.seq {
                    return Some(format!("input {} stands where {} belongs", input.seq, self.seq));
                }
                if !is_json(&input.body) {
                    return Some(format!("the body of input {} is not JSON", input.seq));
                }
                let problem = self.at(input.tick);
                self.steered = input.actor == Actor::Control;
                problem
            }
            Entry::Step(step) => {
                self.step += 1;
                if step.number != self.step {
                    return Some(format!(
                        "step {} stands where {} belongs",
                        step.number, self.step
                    ));
                }
                if !self.may_be(step.from) || step.to < step.from {
                    let now = self.tick.unwrap_or(step.from);
                    let (from, to) = (step.from, step.to);
                    return Some(format!("step {from} to {to} does not continue {now}"));
                }
                self.tick = Some(step.to);
                self.steered = false;
                None
            }
            Entry::End { tick, .. } => {
                self.over = true;
                self.at(*tick)
            }
        }
    }

    /// The world moves in steps and by the control port: whatever else happens, happens where it
    /// stands.
    fn may_be(&self, tick: Tick) -> bool {
        self.tick.is_none_or(|now| now == tick || (self.steered && now < tick))
    }

    fn at(&mut self, tick: Tick) -> Option<String> {
        match self.tick {
            Some(now) if !self.may_be(tick) => {
                Some(format!("is at {tick} while the world is at {now}"))
            }
            _ => {
                self.tick = Some(tick);
                None
            }
        }
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(test)]
pub(crate) mod tests;
