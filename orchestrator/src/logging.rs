//! Logs of this program to stderr, and its traces to a collector where the environment asks for
//! them.

use crate::failure::Failure;
use crate::tracer::Tracer;
use std::io::IsTerminal;
use std::sync::OnceLock;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt, registry};

/// What the user asked for, to be passed on to processes that this one starts.
static ASKED: OnceLock<String> = OnceLock::new();

/// The filter that the user asked for.
pub fn asked() -> Option<String> {
    ASKED.get().cloned()
}

/// What has to be brought to an end with the program.
#[derive(Debug)]
pub struct Logs {
    tracer: Option<Tracer>,
}

impl Logs {
    /// Sends what is not sent yet, for some seconds at most.
    pub fn end(self) {
        if let Some(tracer) = self.tracer {
            tracer.end();
        }
    }
}

/// Logs what `filter` lets through from now on; `None`: what `default` does. Traces go out under
/// the name of the `command`.
///
/// # Errors
/// Where it is no filter.
pub fn begin(filter: Option<&str>, default: &str, command: &str) -> Result<Logs, Failure> {
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
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(colored).with_filter(parsed);
    let (tracer, unfit) = match Tracer::of_environment(command) {
        Ok(tracer) => (tracer, None),
        // Nobody is kept from work by a variable that is meant for all programs alike.
        Err(error) => (None, Some(error)),
    };
    let spans = tracer.as_ref().map(|tracer| tracer.layer().with_filter(LevelFilter::INFO));
    // A second subscriber in the same process (a test) is no reason to fail.
    let _ = registry().with(lines).with(spans).try_init();
    if let Some(error) = unfit {
        tracing::warn!(error, "no traces of this process");
    }
    Ok(Logs { tracer })
}
