//! `soak`: the long randomized tests, in a release build, with their output shown.

use std::process::ExitCode;

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// Options of `soak`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// More arguments for the test binary, after `--`.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Runs the task.
pub fn run(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let mut command = process::cargo(workspace.root());
    command.env("MAYDAY_SOAK", "1");
    command.args(["test", "--release", "--package", "mayday-tests", "--test", "suite"]);
    process::run_as_task(command.args(["--", "soak", "--nocapture"]).args(&args.rest))
}
