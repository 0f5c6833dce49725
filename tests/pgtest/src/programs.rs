//! Where PostgreSQL's programs are, and what a test says that cannot run without them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A folder with `initdb`, `pg_ctl` and `psql`: in `PATH`, or where Debian puts them.
#[expect(clippy::disallowed_methods, reason = "the search path is what is looked at")]
pub fn found() -> Option<PathBuf> {
    let complete = |folder: &Path| {
        ["initdb", "pg_ctl", "postgres", "psql"].iter().all(|name| folder.join(name).is_file())
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = std::env::split_paths(&path).collect();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<_> = versions.map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    folders.extend(versions.into_iter().rev());
    folders.into_iter().find(|folder| complete(folder))
}

/// Says, past the capture of the test runner, that a test was skipped; a run that may not skip
/// sets `MAYDAY_TEST_ALL` and fails here.
///
/// # Panics
/// Where nothing may be skipped.
#[expect(clippy::disallowed_methods, reason = "the switch of a run that may not skip")]
pub fn skip(test: &str, why: &str) {
    assert!(std::env::var_os("MAYDAY_TEST_ALL").is_none(), "{test} cannot run: {why}");
    let line = format!("test skipped: {test}: {why}\n");
    // A harness that has closed its own stderr reads nothing.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
