//! Files that this tool writes: compares them with the disk, and writes what differs.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::outcome::Finding;
use crate::workspace::Workspace;

/// What the disk should hold: content by path below the root; `None` means "no such file".
#[derive(Clone, Debug, Default)]
pub struct Generated {
    files: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

impl Generated {
    /// Expects `content` at `path`.
    pub fn expect(&mut self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), Some(content.into()));
    }

    /// Expects nothing at `path`, unless content was announced for it.
    pub fn expect_absent(&mut self, path: impl Into<PathBuf>) {
        self.files.entry(path.into()).or_insert(None);
    }

    /// Takes over everything that `other` expects.
    pub fn extend(&mut self, other: Self) {
        self.files.extend(other.files);
    }

    /// The files that differ, with a word for how.
    pub fn drift(&self, workspace: &Workspace) -> Result<Vec<(PathBuf, &'static str)>> {
        let mut drift = Vec::new();
        for (path, wanted) in &self.files {
            let full = workspace.root().join(path);
            let present = if full.is_file() {
                Some(fs::read(&full).with_context(|| format!("read {}", full.display()))?)
            } else {
                None
            };
            let word = match (wanted, &present) {
                (Some(wanted), Some(present)) if wanted == present => continue,
                (None, None) => continue,
                (Some(_), Some(_)) => "differs from what its source generates",
                (Some(_), None) => "is missing",
                (None, Some(_)) => "is left over: nothing generates it any more",
            };
            drift.push((path.clone(), word));
        }
        Ok(drift)
    }

    /// The drift as findings.
    pub fn findings(&self, workspace: &Workspace) -> Result<Vec<Finding>> {
        let way_out = "run `cargo xtask codegen` and commit the result";
        let drift = self.drift(workspace)?.into_iter();
        Ok(drift.map(|(path, word)| Finding::new(shown(&path), word, way_out)).collect())
    }

    /// Writes what differs; returns the paths that were touched.
    pub fn write(&self, workspace: &Workspace) -> Result<Vec<String>> {
        let mut touched = Vec::new();
        for (path, _) in self.drift(workspace)? {
            let full = workspace.root().join(&path);
            match &self.files[&path] {
                Some(content) => {
                    let folder = full.parent().context("a generated file has a folder")?;
                    fs::create_dir_all(folder)
                        .with_context(|| format!("create {}", folder.display()))?;
                    fs::write(&full, content)
                        .with_context(|| format!("write {}", full.display()))?;
                }
                None => {
                    fs::remove_file(&full).with_context(|| format!("remove {}", full.display()))?;
                }
            }
            touched.push(shown(&path));
        }
        Ok(touched)
    }
}

fn shown(path: &std::path::Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
