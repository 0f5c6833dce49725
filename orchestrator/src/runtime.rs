//! Runtimes of commands.

use crate::failure::Failure;
use tokio::runtime::{Builder, Runtime};

/// A runtime in this thread: for commands that mostly wait.
///
/// # Errors
/// Where the system refuses.
pub fn current() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(failed)
}

/// A runtime with a thread per processor: for servers.
///
/// # Errors
/// Where the system refuses.
pub fn many() -> Result<Runtime, Failure> {
    Builder::new_multi_thread().enable_all().build().map_err(failed)
}

fn failed(error: std::io::Error) -> Failure {
    Failure::failed(format!("no runtime can be made: {error}"))
}
