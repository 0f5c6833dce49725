//! The files of a host as a tree: a host keeps files by path, a terminal walks folders.

use model::{FileContent, FileView, HostView};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Folders that are there on every host, whether or not anything in them is told apart.
const FOLDERS: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/sbin",
    "/var",
    "/var/lib",
    "/var/log",
    "/var/run",
    "/var/spool",
    "/var/tmp",
];
/// Files that swallow or give without end.
const DEVICES: &[&str] = &[
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/urandom",
    "/dev/zero",
];

/// What is at a path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node<'a> {
    /// A folder; with its file where the host keeps one.
    Folder(Option<&'a FileView>),
    File(&'a FileView),
    Device,
    Missing,
}

/// What somebody wants with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// The tree of one host, as it is now.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) host: Arc<HostView>,
}

impl Tree {
    pub(crate) fn new(host: Arc<HostView>) -> Tree {
        Tree { host }
    }

    /// Files that have a path.
    pub(crate) fn files(&self) -> impl Iterator<Item = &FileView> {
        self.host.files.iter().filter(|f| !f.deleted)
    }

    pub(crate) fn at(&self, path: &str) -> Node<'_> {
        if DEVICES.contains(&path) {
            return Node::Device;
        }
        match self.files().find(|f| f.path == path) {
            Some(file) if file.content == FileContent::Folder => Node::Folder(Some(file)),
            Some(file) => Node::File(file),
            None if FOLDERS.contains(&path) => Node::Folder(None),
            None => {
                let folder = format!("{path}/");
                let above = self.files().any(|f| f.path.starts_with(&folder));
                if above { Node::Folder(None) } else { Node::Missing }
            }
        }
    }

    pub(crate) fn is_folder(&self, path: &str) -> bool {
        matches!(self.at(path), Node::Folder(_))
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        !matches!(self.at(path), Node::Missing)
    }

    /// Names in a folder, sorted.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let above = if folder == "/" { String::from("/") } else { format!("{folder}/") };
        let all = self.files().map(|f| f.path.as_str()).chain(FOLDERS.iter().copied());
        let devices = DEVICES.iter().copied().filter(|_| folder == "/dev");
        let names: BTreeSet<&str> = all
            .chain(devices)
            .filter_map(|path| path.strip_prefix(above.as_str()))
            .filter_map(|rest| rest.split('/').next())
            .filter(|name| !name.is_empty())
            .collect();
        names.into_iter().map(String::from).collect()
    }

    /// Everything at and under a path, folders first, in the order of a walk.
    pub(crate) fn walk(&self, path: &str) -> Vec<String> {
        let mut all = vec![path.to_string()];
        if self.is_folder(path) {
            for name in self.names(path) {
                all.extend(self.walk(&join(path, &name)));
            }
        }
        all
    }

    /// Bytes at and under a path.
    pub(crate) fn size(&self, path: &str) -> f64 {
        let folder = if path == "/" { String::from("/") } else { format!("{path}/") };
        let mine = |f: &&FileView| f.path == path || f.path.starts_with(&folder);
        self.files().filter(mine).map(|f| f.size).sum()
    }

    /// Inodes at and under a path.
    pub(crate) fn inodes(&self, path: &str) -> f64 {
        let folder = if path == "/" { String::from("/") } else { format!("{path}/") };
        let mine = |f: &&FileView| f.path == path || f.path.starts_with(&folder);
        self.files().filter(mine).map(|f| f.inodes).sum()
    }

    /// Whether `user` may do this with what is at `path`; what is not there is up to its folder.
    pub(crate) fn may(&self, user: &str, path: &str, access: Access) -> bool {
        if user == "root" {
            return true;
        }
        let bit = if access == Access::Read { 0o4 } else { 0o2 };
        let file = match self.at(path) {
            Node::Device => return true,
            Node::File(file) | Node::Folder(Some(file)) => file,
            Node::Folder(None) => return access == Access::Read || path == "/var/tmp",
            Node::Missing => {
                return path != "/" && self.may(user, parent(path), access);
            }
        };
        let shift = if file.owner == user { 6 } else { 0 };
        file.mode >> shift & bit != 0
    }
}

/// The folder of a path.
pub(crate) fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}

/// The last part of a path.
pub(crate) fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.ends_with('/') { format!("{folder}{name}") } else { format!("{folder}/{name}") }
}

/// `path` from `cwd`, without `.`, `..` and doubled slashes.
pub(crate) fn absolute(cwd: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_string() } else { join(cwd, path) };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let path = format!("/{}", parts.join("/"));
    // These are links on a real host.
    match path.strip_prefix("/var/run") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("/run{rest}"),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_absolute() {
        for (cwd, path, expected) in [
            ("/root", "a/../b", "/root/b"),
            ("/root", "/", "/"),
            ("/", "..", "/"),
            ("/var/log", "./app.log", "/var/log/app.log"),
            ("/x", "/var//log/", "/var/log"),
        ] {
            assert_eq!(absolute(cwd, path), expected);
        }
        assert_eq!((parent("/a"), parent("/a/b"), name("/a/b")), ("/", "/a", "b"));
    }
}
