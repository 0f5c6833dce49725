//! Runtimes of commands.

use crate::failure::Failure;
use std::num::NonZeroUsize;
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

/// A runtime beside one that computes, for what only carries bytes: there a ping waits for no
/// world. Half as many threads as processors.
///
/// # Errors
/// Where the system refuses.
pub fn carriers() -> Result<Runtime, Failure> {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(processors.div_ceil(2)).thread_name("carrier");
    builder.enable_all().build().map_err(failed)
}

/// Lets this process open as many files as it may: each connection is one, and the usual limit is
/// below the sessions that are served by default.
pub fn open_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "the limit of open files stays");
        }
    }
}

fn failed(error: std::io::Error) -> Failure {
    Failure::failed(format!("no runtime can be made: {error}"))
}
