//! `deploy/Dockerfile` against the toolchain, the workspace and the list of what reaches the build.

use std::fs;

use anyhow::Result;

use crate::source_tree;
use crate::workspace::Workspace;

/// The file.
pub const FILE: &str = "deploy/Dockerfile";
const IGNORE: &str = ".dockerignore";
const TOOLCHAIN: &str = "rust-toolchain.toml";

/// What is wrong with it.
pub fn faults(workspace: &Workspace) -> Result<Vec<String>> {
    let read = |path| fs::read_to_string(workspace.path(path));
    let (text, ignore, pinned) = (read(FILE)?, read(IGNORE)?, read(TOOLCHAIN)?);
    let mut needed = vec!["Cargo.toml".to_string(), "Cargo.lock".to_string()];
    for manifest in source_tree::files(workspace.root(), "toml")? {
        let below = manifest.strip_prefix(workspace.root())?;
        let folder = below.components().next().map(|part| part.as_os_str().to_string_lossy());
        if below.ends_with("Cargo.toml") && below.components().count() > 1 {
            needed.extend(folder.map(|folder| folder.into_owned()));
        }
    }
    // Read by code at build time.
    needed.extend(["scenarios", "topologies", "proto"].map(str::to_string));
    needed.sort();
    needed.dedup();
    let mut faults = compared(&text, &ignore, &needed);
    let channel = pinned.lines().find_map(|line| line.strip_prefix("channel = "));
    let image = channel.map(|channel| format!("rust:{}-slim-bookworm", channel.trim_matches('"')));
    if toolchain(&text) != image {
        let image = image.unwrap_or_default();
        faults.push(format!("{FILE}: builds with another toolchain than {TOOLCHAIN}: use {image}"));
    }
    Ok(faults)
}

/// The image that compiles.
pub fn toolchain(dockerfile: &str) -> Option<String> {
    let line = dockerfile.lines().find_map(|line| line.strip_prefix("FROM rust:"));
    line.and_then(|line| line.split(' ').next()).map(|tag| format!("rust:{tag}"))
}

/// Everything that cargo needs is copied, and nothing of it is held back.
fn compared(dockerfile: &str, ignore: &str, needed: &[String]) -> Vec<String> {
    let copied: Vec<&str> = dockerfile
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .flat_map(str::split_whitespace)
        .collect();
    let mut faults = Vec::new();
    for name in needed {
        if !copied.contains(&name.as_str()) {
            faults.push(format!("{FILE}: add COPY {name} to the stage `build`"));
        }
        if !ignore.lines().any(|line| line.strip_prefix('!') == Some(name)) {
            faults.push(format!("{IGNORE}: add !{name}"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_copied_or_held_back_is_named() {
        let file = "FROM rust:1.2.3-slim-bookworm AS build\nCOPY Cargo.toml Cargo.lock ./\n";
        let needed = ["Cargo.toml".to_string(), "crates".to_string()];
        let faults = compared(file, "*\n!Cargo.toml\n", &needed);
        let named = [
            format!("{FILE}: add COPY crates to the stage `build`"),
            format!("{IGNORE}: add !crates"),
        ];
        assert_eq!(faults, named);
        assert_eq!(toolchain(file).as_deref(), Some("rust:1.2.3-slim-bookworm"));
    }
}
