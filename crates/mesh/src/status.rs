//! Failures of the simulator as gRPC statuses and back. The kind that failed travels in metadata,
//! so that a failure three hops down still names the process to heal.

use tonic::metadata::AsciiMetadataValue;
use tonic::{Code, Status};

use crate::error::MeshError;

/// Metadata that names the kind whose process failed.
const COMPONENT: &str = "x-mayday-component";

/// Whether a status says that no answer came, rather than giving one: asking again may help.
pub fn is_transient(status: &Status) -> bool {
    // A source is set only where this side made the status from an error of the transport.
    let local = std::error::Error::source(status).is_some();
    let silent =
        matches!(status.code(), Code::Unavailable | Code::Cancelled | Code::DeadlineExceeded);
    local || silent || status.code() == Code::Unknown
}

/// The status of a failure.
pub fn to_status(error: MeshError) -> Status {
    let text = error.to_string();
    let (mut status, kind) = match error {
        MeshError::Lost { kind } => (Status::not_found(text), kind),
        MeshError::Unreachable { kind, .. } => (Status::unavailable(text), kind),
        MeshError::Defect(sentence) => return Status::internal(sentence),
    };
    if let Ok(kind) = AsciiMetadataValue::try_from(kind) {
        status.metadata_mut().insert(COMPONENT, kind);
    }
    status
}

/// The failure that a status of the process of `asked` stands for.
pub fn from_status(asked: &str, status: &Status) -> MeshError {
    let named = status.metadata().get(COMPONENT).and_then(|kind| kind.to_str().ok());
    let kind = named.unwrap_or(asked).to_string();
    match status.code() {
        Code::NotFound => MeshError::Lost { kind },
        _ if is_transient(status) => MeshError::Unreachable { kind, reason: describe(status) },
        code => MeshError::Defect(format!("{kind} answered {code:?}: {}", status.message())),
    }
}

/// Message of a status with what caused it.
pub fn describe(status: &Status) -> String {
    let mut text = status.message().to_string();
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_keep_the_kind_that_failed_through_any_number_of_hops() {
        for error in [
            MeshError::Lost { kind: "db".into() },
            MeshError::Unreachable { kind: "db".into(), reason: "gone".into() },
        ] {
            let once = from_status("gateway", &to_status(error.clone()));
            let twice = from_status("front", &to_status(once.clone()));
            for back in [once, twice] {
                match (&error, &back) {
                    (MeshError::Lost { .. }, MeshError::Lost { kind })
                    | (MeshError::Unreachable { .. }, MeshError::Unreachable { kind, .. }) => {
                        assert_eq!(kind, "db");
                    }
                    other => panic!("changed on the way: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn an_answer_that_is_wrong_is_not_taken_for_silence() {
        for code in [Code::Internal, Code::InvalidArgument, Code::Unauthenticated] {
            assert!(!is_transient(&Status::new(code, "x")));
            assert!(matches!(from_status("db", &Status::new(code, "x")), MeshError::Defect(_)));
        }
        assert!(is_transient(&Status::unavailable("x")));
    }
}
