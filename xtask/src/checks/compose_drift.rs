//! `compose-drift`: the committed compose file has a container per kind of the fleet's list.

use anyhow::Result;

use super::Check;
use crate::compose;
use crate::outcome::Outcome;
use crate::workspace::Workspace;

/// The check.
pub const CHECK: Check =
    Check { name: "compose-drift", summary: "deploy/compose.yaml equals its source", run: check };

fn check(workspace: &Workspace) -> Result<Outcome> {
    Ok(compose::generate(workspace)?.findings(workspace)?.into())
}
