//! The workspace as tasks see it: its root, and what `cargo metadata` says (read once, on demand).

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::process;

/// Root folder and metadata of this repository, or of a sample one in tests.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    metadata: OnceCell<Metadata>,
}

/// The part of `cargo metadata --format-version 1` that checks use.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Metadata {
    /// All packages of the lock file that some platform needs.
    pub packages: Vec<Package>,
    /// Package ids of our own crates.
    pub workspace_members: Vec<String>,
    /// Where builds go.
    #[serde(default)]
    pub target_directory: PathBuf,
    /// The resolved graph.
    #[serde(default)]
    pub resolve: Resolve,
}

/// One package.
#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    /// Opaque package id.
    pub id: String,
    /// Name in the manifest.
    pub name: String,
    /// Version, only shown.
    pub version: String,
    /// License expression, if the manifest has one.
    pub license: Option<String>,
    /// Path of its Cargo.toml.
    pub manifest_path: PathBuf,
}

/// The resolved dependency graph.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Resolve {
    /// One node per package.
    pub nodes: Vec<Node>,
}

/// Dependencies of one package, with the features that the workspace chose.
#[derive(Clone, Debug, Deserialize)]
pub struct Node {
    /// Package id.
    pub id: String,
    /// Edges to other packages.
    pub deps: Vec<NodeDep>,
}

/// One edge of the graph.
#[derive(Clone, Debug, Deserialize)]
pub struct NodeDep {
    /// Package id of the dependency.
    pub pkg: String,
    /// Sections of the manifest that ask for it.
    pub dep_kinds: Vec<DepKind>,
}

/// One section of a manifest: `None` is `[dependencies]`.
#[derive(Clone, Debug, Deserialize)]
pub struct DepKind {
    /// `dev`, `build` or nothing.
    pub kind: Option<String>,
}

impl NodeDep {
    /// True for an edge out of `[dependencies]`.
    pub fn is_normal(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.is_none())
    }
}

impl Metadata {
    /// Packages by id.
    pub fn by_id(&self) -> BTreeMap<&str, &Package> {
        self.packages.iter().map(|package| (package.id.as_str(), package)).collect()
    }

    /// Our own crates, in the order of the member list.
    pub fn members(&self) -> Vec<&Package> {
        let by_id = self.by_id();
        self.workspace_members.iter().filter_map(|id| by_id.get(id.as_str()).copied()).collect()
    }
}

impl Workspace {
    /// The repository that this tool was built from.
    pub fn here() -> Result<Self> {
        let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
        Ok(Self::at(xtask.parent().context("the xtask crate has a parent folder")?))
    }

    /// A workspace at another root.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), metadata: OnceCell::new() }
    }

    /// The root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path below the root.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// `path` as it is shown to people: relative to the root, with `/`.
    pub fn shown(&self, path: &Path) -> String {
        let relative = path.strip_prefix(&self.root).unwrap_or(path);
        relative.to_string_lossy().replace('\\', "/")
    }

    /// What `cargo metadata` says.
    pub fn metadata(&self) -> Result<&Metadata> {
        if let Some(known) = self.metadata.get() {
            return Ok(known);
        }
        let mut command = process::cargo(&self.root);
        let json = process::output(command.args(["metadata", "--format-version", "1"]))?;
        let read = serde_json::from_slice(&json).context("read the output of `cargo metadata`")?;
        Ok(self.metadata.get_or_init(|| read))
    }
}
