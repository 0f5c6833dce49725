//! Logs of this program, to stderr.

use crate::failure::Failure;
use std::io::IsTerminal;
use std::sync::OnceLock;
use tracing_subscriber::EnvFilter;

/// What the user asked for, to be passed on to processes that this one starts.
static ASKED: OnceLock<String> = OnceLock::new();

/// The filter that the user asked for.
pub fn asked() -> Option<String> {
    ASKED.get().cloned()
}

/// Logs what `filter` lets through from now on; `None`: what `default` does.
///
/// # Errors
/// Where it is no filter.
pub fn begin(filter: Option<&str>, default: &str) -> Result<(), Failure> {
    let filter = filter.filter(|text| !text.trim().is_empty());
    let text = filter.unwrap_or(default);
    let parsed = EnvFilter::try_new(text).map_err(|error| {
        Failure::usage(format!(
            "--log {text:?} ({error}): expected a level such as `info`, or targets with levels \
             such as `warn,fleet=debug`"
        ))
    })?;
    if let Some(text) = filter {
        let _ = ASKED.set(text.to_string());
    }
    let colored = std::io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt().with_env_filter(parsed).with_writer(std::io::stderr);
    // A second subscriber in the same process (a test) is no reason to fail.
    let _ = logs.with_ansi(colored).try_init();
    Ok(())
}
