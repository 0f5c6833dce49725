//! `clippy`: no warning in any target of any crate, bans of `clippy_bans` included.

use anyhow::Result;

use super::Check;
use crate::outcome::{Finding, Outcome};
use crate::process;
use crate::workspace::Workspace;

/// The check.
pub const CHECK: Check =
    Check { name: "clippy", summary: "no warning in any target, bans included", run: check };

fn check(workspace: &Workspace) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut command = process::cargo(workspace.root());
    command.args(["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]);
    if !process::run(&mut command)? {
        outcome.find(Finding::new(
            "workspace",
            "clippy found what is printed above",
            "do what the lint says, or `#[expect(LINT, reason = \"…\")]` on the smallest item",
        ));
    }
    Ok(outcome)
}
