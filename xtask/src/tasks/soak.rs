//! `soak`: every reduced count at its full size, in a release build, with the output shown.

use std::process::ExitCode;

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// What is run, in order; each with `MAYDAY_SOAK=1`.
const STEPS: &[&[&str]] = &[
    &["test", "--release", "--package", "mayday-tests", "--test", "suite", "--", "--nocapture"],
    &["test", "--release", "--package", "flow", "--test", "fidelity", "--", "--nocapture"],
    &["test", "--release", "--package", "mayday", "--test", "cli", "--", "--nocapture"],
    &["test", "--release", "--package", "openenv", "--", "--nocapture"],
    &[
        "run",
        "--release",
        "--package",
        "mayday",
        "--",
        "scenario",
        "check",
        "--all",
        "--seeds",
        "20",
        "--search",
        "pairs:27", // of each of 3 seeds of 25 scenarios: 2,025 in all
    ],
    &["run", "--release", "--package", "mayday", "--", "run", "--seeds", "20", "--per-scenario"],
];

/// Options of `soak`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Only steps whose command line contains this text.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

/// Runs the task.
pub fn run(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let mut failed = false;
    for step in STEPS.iter().filter(|step| step.join(" ").contains(&args.only)) {
        let mut command = process::cargo(workspace.root());
        failed |= !process::run(command.env("MAYDAY_SOAK", "1").args(*step))?;
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
