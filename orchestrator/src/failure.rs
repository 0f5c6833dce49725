//! How a command ends when it does not end well: one sentence with the way out, and an exit code.

use std::process::ExitCode;

/// Why a command did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// What was asked for cannot be done; exit code 2.
    #[error("{0}")]
    Usage(String),
    /// It was begun, and something outside the simulation failed; exit code 1.
    #[error("{0}")]
    Failed(String),
    /// It was done, and what it looked at is not as it should be; all is said already. Exit code 1.
    #[error("")]
    Findings,
    /// The user stopped it; exit code 130.
    #[error("stopped")]
    Interrupted,
}

impl Failure {
    /// Bad usage, with this sentence.
    pub fn usage(what: impl ToString) -> Failure {
        Failure::Usage(what.to_string())
    }

    /// A failure, with this sentence.
    pub fn failed(what: impl ToString) -> Failure {
        Failure::Failed(what.to_string())
    }

    /// Code of the process.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::Usage(_) => 2,
            Failure::Failed(_) | Failure::Findings => 1,
            Failure::Interrupted => 130,
        })
    }
}

impl From<episode::EpisodeError> for Failure {
    fn from(error: episode::EpisodeError) -> Failure {
        Failure::failed(error)
    }
}

impl From<record::RecordError> for Failure {
    fn from(error: record::RecordError) -> Failure {
        Failure::failed(error)
    }
}

impl From<fleet::FleetError> for Failure {
    fn from(error: fleet::FleetError) -> Failure {
        Failure::failed(error)
    }
}
