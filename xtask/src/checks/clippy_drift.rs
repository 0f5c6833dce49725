//! `clippy-drift`: the committed `clippy.toml` files are what `clippy_bans` says.

use anyhow::Result;

use super::Check;
use crate::clippy_files;
use crate::outcome::Outcome;
use crate::workspace::Workspace;

/// The check.
pub const CHECK: Check =
    Check { name: "clippy-drift", summary: "clippy.toml files equal their source", run: check };

fn check(workspace: &Workspace) -> Result<Outcome> {
    Ok(clippy_files::generate(workspace)?.findings(workspace)?.into())
}
