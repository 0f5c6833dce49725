//! What an episode of an evaluation came to.

use episode::Term;
use record::EndReason;
use serde::{Deserialize, Serialize};

/// Points of a curve at most.
const POINTS_MAX: usize = 161;

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The agent said that it is done.
    Resolved,
    /// Its time was up.
    Horizon,
    /// Its steps were used up.
    StepLimit,
    /// It left; the episode was handed off at that tick.
    Abandoned,
    /// It never called reset.
    Absent,
}

impl Ending {
    /// All of them.
    pub const ALL: [Ending; 5] =
        [Ending::Resolved, Ending::Horizon, Ending::StepLimit, Ending::Abandoned, Ending::Absent];

    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            Ending::Resolved => "resolved",
            Ending::Horizon => "time was up",
            Ending::StepLimit => "steps were used up",
            Ending::Abandoned => "abandoned",
            Ending::Absent => "never began",
        }
    }
}

impl From<EndReason> for Ending {
    fn from(reason: EndReason) -> Ending {
        match reason {
            EndReason::Resolved => Ending::Resolved,
            EndReason::Horizon => Ending::Horizon,
            EndReason::StepLimit => Ending::StepLimit,
            EndReason::Abandoned => Ending::Abandoned,
        }
    }
}

/// Cumulative impact over simulated time, thousandths of a user-minute: of the agent, and of the
/// two worlds that it is measured by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Curves {
    /// Seconds from one point to the next; the last one is at `end_s`.
    pub every_s: u32,
    /// When the agent's phase ends at the latest, seconds after the page.
    pub horizon_s: u32,
    /// When impact is counted no longer.
    pub end_s: u32,
    /// The agent's world.
    pub agent: Vec<i64>,
    /// Nobody does anything.
    pub noop: Vec<i64>,
    /// The reference plan is followed.
    pub reference: Vec<i64>,
}

impl Curves {
    /// Some points of a trail with one value per tick, micro-user-minutes.
    pub fn sample(trail: &[i64], every_s: u32) -> Vec<i64> {
        let milli = |micro: &i64| (micro + micro.signum() * 500) / 1000;
        let step = every_s.max(1) as usize;
        let mut points: Vec<_> = trail.iter().step_by(step).map(milli).collect();
        if trail.len() % step != 1 % step {
            points.extend(trail.last().map(milli));
        }
        points
    }

    /// Seconds between points for so many ticks.
    pub fn pace(ticks: usize) -> u32 {
        u32::try_from(ticks.div_ceil(POINTS_MAX - 1).max(1)).unwrap_or(u32::MAX)
    }
}

/// A graded attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    /// The seed of the world.
    pub world_seed: u64,
    /// The score, 0..=1.
    pub score: f64,
    /// What it is made of.
    pub terms: Vec<Term>,
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
    /// Simulated seconds from the page to the end of the agent's phase.
    pub seconds: u32,
    /// How it ended.
    pub end: Ending,
    /// Digest of the world after the last step.
    pub world: String,
    /// Impact over time.
    pub curves: Curves,
}

/// What an assignment came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is graded.
    Scored(Box<Assessment>),
    /// Something outside the simulation failed: it is not scored, and has to be played again.
    Failed(String),
}

/// The end of an assignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// What the first attempt came to.
    pub outcome: Outcome,
    /// Resets after the first one; only the first attempt counts.
    pub later_resets: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_begin_and_end_where_their_trails_do() {
        for ticks in [1usize, 2, 160, 161, 162, 900, 1500, 1601] {
            let trail: Vec<i64> = (0..=ticks as i64).map(|t| t * 1_000_000).collect();
            let every = Curves::pace(ticks);
            let points = Curves::sample(&trail, every);
            assert!(points.len() <= POINTS_MAX + 1, "{ticks}: {}", points.len());
            assert_eq!(points.first(), Some(&0), "{ticks}");
            assert_eq!(points.last(), Some(&(ticks as i64 * 1000)), "{ticks}");
            let rises = points.windows(2).all(|pair| pair[0] < pair[1]);
            assert!(rises, "{ticks}: {points:?}");
        }
        assert_eq!(Curves::sample(&[1499, -1500, 1501], 1), [1, -2, 2]);
    }
}
