//! `format`: all code is as rustfmt writes it.

use anyhow::Result;

use super::Check;
use crate::outcome::{Finding, Outcome};
use crate::process;
use crate::workspace::Workspace;

/// The check.
pub const CHECK: Check =
    Check { name: "format", summary: "rustfmt would change nothing", run: check };

fn check(workspace: &Workspace) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut command = process::cargo(workspace.root());
    if !process::run(command.args(["fmt", "--all", "--check"]))? {
        outcome.find(Finding::new("workspace", "code is not formatted", "run `cargo fmt --all`"));
    }
    Ok(outcome)
}
