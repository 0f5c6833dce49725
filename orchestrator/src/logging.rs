//! Logs of this program, to stderr.

use crate::failure::Failure;
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Logs what `filter` lets through from now on; `None`: what `default` does.
///
/// # Errors
/// Where it is no filter.
pub fn begin(filter: Option<&str>, default: &str) -> Result<(), Failure> {
    let text = filter.filter(|text| !text.trim().is_empty()).unwrap_or(default);
    let filter = EnvFilter::try_new(text).map_err(|error| {
        Failure::usage(format!(
            "--log {text:?} ({error}): expected a level such as `info`, or targets with levels \
             such as `warn,fleet=debug`"
        ))
    })?;
    let colored = std::io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second subscriber in the same process (a test) is no reason to fail.
    let _ = logs.with_ansi(colored).try_init();
    Ok(())
}
