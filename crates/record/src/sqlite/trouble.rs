//! What SQLite and the system say, in our words.

use crate::error::RecordError;
use rusqlite::ErrorCode;
use std::fs;
use std::io;
use std::path::Path;

/// Why something was not done.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The rules of a store refuse it; nothing was touched.
    Refused(RecordError),
    /// What was read makes no sense.
    Damaged(String),
    /// The database cannot do it.
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Trouble::Database(error)
    }
}

impl From<RecordError> for Trouble {
    fn from(error: RecordError) -> Self {
        Trouble::Refused(error)
    }
}

impl Trouble {
    /// With the name of the file.
    pub(super) fn named(self, path: &Path) -> RecordError {
        match self {
            Trouble::Refused(error) => error,
            Trouble::Damaged(problem) => RecordError::Damaged { path: path.to_path_buf(), problem },
            Trouble::Database(error) => database(path, &error),
        }
    }
}

/// What the database says about the file.
pub(super) fn database(path: &Path, error: &rusqlite::Error) -> RecordError {
    let problem = error.to_string();
    let path = path.to_path_buf();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => RecordError::Full { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => RecordError::Locked { path },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => RecordError::Denied { path },
        Some(ErrorCode::NotADatabase) => RecordError::NotRecords { path },
        Some(ErrorCode::DatabaseCorrupt) => RecordError::Damaged { path, problem },
        _ => RecordError::Database { path, problem },
    }
}

/// The same while it is opened, when "unable to open" hides the reason.
pub(super) fn opening(path: &Path, error: &rusqlite::Error) -> RecordError {
    if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) {
        let attempt = fs::OpenOptions::new().append(true).create(true).open(path);
        match attempt {
            Err(error) => return system(path, &error),
            // Closing it would release the locks that other stores of this process hold on it.
            Ok(file) => std::mem::forget(file),
        }
    }
    database(path, error)
}

/// What the system says about the file.
pub(super) fn system(path: &Path, error: &io::Error) -> RecordError {
    let problem = error.to_string();
    let path = path.to_path_buf();
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            RecordError::Denied { path }
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => RecordError::Full { path },
        _ => RecordError::Database { path, problem },
    }
}
