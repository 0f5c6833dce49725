//! Failures of the simulator on the request plane. A simulated failure is never one of these: it
//! is a [`model::HopReply`] with a code.

/// Why a hop could not be answered at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeshError {
    /// The process of a kind does not hold the episode (it is a new one, or it dropped it).
    #[error("{kind} does not hold the episode: restore it there, then ask again")]
    Lost {
        /// The kind.
        kind: String,
    },
    /// The process of a kind gave no answer.
    #[error("{kind} cannot be reached ({reason}): see that it runs, then ask again")]
    Unreachable {
        /// The kind.
        kind: String,
        /// What the transport said.
        reason: String,
    },
    /// The walk or a plan is wrong; asking again does not help.
    #[error("defect on the request plane: {0}")]
    Defect(String),
}
