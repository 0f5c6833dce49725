//! Finds files of the repository by extension, leaving out build output and hidden folders.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// All files below `root` whose extension is `extension`, sorted by path.
pub fn files(root: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                if !is_left_out(&path) {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|have| have == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The entries of one folder, sorted.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    let paths = read.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// The names of the folders inside `folder`, sorted; none when it does not exist.
pub fn folder_names(folder: &Path) -> Result<Vec<String>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let folders = entries(folder)?.into_iter().filter(|path| path.is_dir() && !is_left_out(path));
    Ok(folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
}

fn is_left_out(folder: &Path) -> bool {
    let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with('.')
        || name == "target"
        || name.starts_with("target-")
        || name == "node_modules"
        || name == "dist"
}
