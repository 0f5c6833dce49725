//! `test`: all tests of the workspace, through cargo-nextest where it is installed.

use std::process::ExitCode;

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// Options of `test`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Use cargo's own runner although cargo-nextest is installed.
    #[arg(long)]
    plain: bool,
    /// More arguments for the runner, after `--`: filters and its own options.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Runs the task.
pub fn run(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let mut command = process::cargo(workspace.root());
    if !args.plain && process::installed("cargo", Some("nextest")) {
        command.args(["nextest", "run", "--workspace"]);
    } else {
        command.args(["test", "--workspace"]);
    }
    process::run_as_task(command.args(&args.rest))
}
