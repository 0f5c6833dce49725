//! Rules about manifests: every crate of the workspace takes the workspace's lints.

use std::fs;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::outcome::Finding;
use crate::source_tree;
use crate::workspace::Workspace;

#[derive(Debug, Deserialize)]
struct Manifest {
    package: Option<toml::Table>,
    lints: Option<Lints>,
}

#[derive(Debug, Default, Deserialize)]
struct Lints {
    #[serde(default)]
    workspace: bool,
}

/// Reads every manifest below the root rather than the member list: a crate outside of it counts.
pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in source_tree::files(workspace.root(), "toml")? {
        if file.file_name().is_none_or(|name| name != "Cargo.toml") {
            continue;
        }
        let place = workspace.shown(&file);
        let text = fs::read_to_string(&file).with_context(|| format!("read {place}"))?;
        let manifest: Manifest = toml::from_str(&text).with_context(|| format!("read {place}"))?;
        if manifest.package.is_some() && !manifest.lints.unwrap_or_default().workspace {
            let way_out = "add `[lints]` with `workspace = true`";
            findings.push(Finding::new(place, "does not take the workspace's lints", way_out));
        }
    }
    Ok(findings)
}
