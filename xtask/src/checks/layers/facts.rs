//! What each of our crates imports, read from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use crate::clippy_files::NO_KIND;
use crate::workspace::{Metadata, Node, Package, Workspace};

/// The imports of one of our crates, `[dependencies]` only.
#[derive(Clone, Debug, Default)]
pub struct CrateFacts {
    /// Package name.
    pub name: String,
    /// Folder below the root.
    pub folder: String,
    /// Our crates that it imports.
    pub ours: Vec<String>,
    /// Crates of others that it imports itself.
    pub externals: Vec<String>,
    /// Every crate of others in its graph, with one way that leads there.
    pub reached: Vec<(String, String)>,
}

impl CrateFacts {
    /// True when `pattern` is this folder, or is `services/*` and this is a component kind.
    pub fn folder_matches(&self, pattern: &str) -> bool {
        match pattern.strip_suffix('*') {
            Some(parent) => self.folder.strip_prefix(parent).is_some_and(|kind| kind != NO_KIND),
            None => self.folder == pattern,
        }
    }
}

/// The facts of all our crates.
pub(super) fn collect(workspace: &Workspace) -> Result<Vec<CrateFacts>> {
    let metadata = workspace.metadata()?;
    let graph = Graph::of(metadata);
    let members = metadata.members().into_iter();
    Ok(members.map(|package| graph.facts(workspace, package)).collect())
}

struct Graph<'a> {
    packages: BTreeMap<&'a str, &'a Package>,
    nodes: BTreeMap<&'a str, &'a Node>,
    ours: BTreeSet<&'a str>,
}

impl<'a> Graph<'a> {
    fn of(metadata: &'a Metadata) -> Self {
        let nodes = metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node));
        Self {
            packages: metadata.by_id(),
            nodes: nodes.collect(),
            ours: metadata.workspace_members.iter().map(String::as_str).collect(),
        }
    }

    fn facts(&self, workspace: &Workspace, package: &Package) -> CrateFacts {
        let folder = package.manifest_path.parent().unwrap_or(workspace.root());
        let (ours, others): (Vec<&str>, Vec<&str>) =
            self.imports(&package.id).into_iter().partition(|id| self.ours.contains(id));
        CrateFacts {
            name: package.name.clone(),
            folder: workspace.shown(folder),
            ours: ours.into_iter().map(|id| self.name(id)).collect(),
            externals: others.into_iter().map(|id| self.name(id)).collect(),
            reached: self.reached(&package.id),
        }
    }

    fn imports(&self, id: &str) -> Vec<&'a str> {
        let Some(node) = self.nodes.get(id) else { return Vec::new() };
        let normal = node.deps.iter().filter(|dep| dep.is_normal());
        normal.map(|dep| dep.pkg.as_str()).collect()
    }

    fn name(&self, id: &str) -> String {
        self.packages.get(id).map_or_else(|| id.to_owned(), |package| package.name.clone())
    }

    /// Breadth first, so that the way shown is a shortest one.
    fn reached(&self, start: &str) -> Vec<(String, String)> {
        let mut seen = BTreeSet::from([start]);
        let mut reached = Vec::new();
        let mut front = vec![(start, self.name(start))];
        while !front.is_empty() {
            let mut next = Vec::new();
            for (id, way) in &front {
                for import in self.imports(id) {
                    if !seen.insert(import) {
                        continue;
                    }
                    let way = format!("{way} -> {}", self.name(import));
                    if !self.ours.contains(import) {
                        reached.push((self.name(import), way.clone()));
                    }
                    next.push((import, way));
                }
            }
            front = next;
        }
        reached
    }
}
