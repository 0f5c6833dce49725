//! Failures of a fleet. All of them are the simulator's; a failure in the simulation is data in a
//! reply.

use mesh::MeshError;

/// Why a fleet could not do a call. Nothing of the call is half-applied: making the same call
/// again finishes it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// The components of a kind are not in the state that this call starts from: their process is
    /// a new one, or missed a call.
    #[error(
        "{kind} lost its state before call {seq}: replay the record up to there and heal {kind}, \
         then make the call again"
    )]
    Lost {
        /// The kind.
        kind: String,
        /// Number of the call that it cannot do; it has to be in the state after the one before.
        seq: u64,
    },
    /// No answer came within all attempts.
    #[error(
        "{kind} at {address} gave no answer in {attempts} attempts ({reason}): see that it runs, \
         then make the call again"
    )]
    Unreachable {
        /// The kind.
        kind: String,
        /// Where it was asked.
        address: String,
        /// How often.
        attempts: u32,
        /// What the last attempt said.
        reason: String,
    },
    /// The process does not serve this caller: another owner took the episode over, the token is
    /// wrong, or it is full.
    #[error("{kind} refuses: {reason}")]
    Refused {
        /// The kind.
        kind: String,
        /// Its sentence, with the way out.
        reason: String,
    },
    /// The replay reached the call before which it was to stop
    /// ([`crate::EmbeddedFleet::halt_before`]).
    #[error("halted before call {seq} of {kind}")]
    Halted {
        /// The kind.
        kind: String,
        /// Number of the call that was not made.
        seq: u64,
    },
    /// The call is wrong; making it again does not help.
    #[error("defect: {0}")]
    Defect(String),
}

impl FleetError {
    /// A defect with this sentence.
    pub(crate) fn defect(sentence: impl Into<String>) -> FleetError {
        FleetError::Defect(sentence.into())
    }

    /// Whether making the same call again, later, can help without healing anything.
    pub fn is_transient(&self) -> bool {
        matches!(self, FleetError::Unreachable { .. })
    }
}

impl From<machine::SnapshotError> for FleetError {
    fn from(error: machine::SnapshotError) -> FleetError {
        FleetError::Defect(error.to_string())
    }
}

/// An embedded walk reaches every machine; what is left are defects.
impl From<MeshError> for FleetError {
    fn from(error: MeshError) -> FleetError {
        FleetError::Defect(error.to_string())
    }
}
