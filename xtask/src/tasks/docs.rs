//! `docs`: the API documentation of all crates without a warning, and Markdown links that resolve.
#![expect(clippy::print_stdout, reason = "a command-line tool reports on the terminal")]

use std::process::ExitCode;

use anyhow::Result;

use crate::checks::links;
use crate::process;
use crate::workspace::Workspace;

/// Options of `docs`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Only check the links.
    #[arg(long)]
    links_only: bool,
}

/// Runs the task.
pub fn run(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let outcome = (links::CHECK.run)(workspace)?;
    for finding in &outcome.findings {
        println!("{finding}");
    }
    let mut passed = outcome.passed();
    if !args.links_only {
        let mut command = process::cargo(workspace.root());
        command.env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--workspace", "--no-deps"]);
        passed &= process::run(&mut command)?;
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
