//! `bench`: the product measures itself in a release build and writes its tables.

use std::process::ExitCode;

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// Options of `bench`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// File that gets the tables.
    #[arg(long, value_name = "FILE", default_value = "docs/performance.md")]
    write: String,
    /// More arguments for `mayday bench`, after `--`.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Runs the task.
pub fn run(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let mut command = process::cargo(workspace.root());
    command.args(["run", "--release", "--package", "mayday", "--", "bench", "--write"]);
    process::run_as_task(command.arg(&args.write).args(&args.rest))
}
