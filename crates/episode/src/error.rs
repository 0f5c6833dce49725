//! Why a step could not be done. A refusal of the world is no error: the agent reads it.

use action::ActionError;
use fleet::FleetError;

/// Why an episode could not be made, moved or resumed.
#[derive(Debug, thiserror::Error)]
pub enum EpisodeError {
    /// The action does not fit; no time has passed and nothing is recorded.
    #[error(transparent)]
    Action(#[from] ActionError),
    /// The episode is over.
    #[error("the episode is over ({0}): create another one")]
    Over(&'static str),
    /// A component could not be reached or healed; the episode can be resumed.
    #[error("the simulator's own failure: {0}")]
    Fleet(#[from] FleetError),
    /// The scenario or a snapshot is not of this build.
    #[error("{0}")]
    Unfit(String),
    /// Replaying the record gave another world than it says: another build, or a defect.
    #[error(
        "step {step}: {difference}: this build simulates otherwise, or the record was changed; \
         use the build that wrote it"
    )]
    Diverged {
        /// Number of the step.
        step: u32,
        /// What differs, with both values.
        difference: String,
    },
    /// The judge could not say what the step is worth.
    #[error("the grader gave no answer: {0}")]
    Judge(String),
}

impl From<machine::SnapshotError> for EpisodeError {
    fn from(error: machine::SnapshotError) -> Self {
        EpisodeError::Unfit(error.to_string())
    }
}
