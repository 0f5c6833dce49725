//! Clippy really refuses what the generated file of a pure crate bans, in a crate made for it.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::clippy_bans::{EVERYWHERE, Group, PROFILES};
use xtask::clippy_files;

/// Arguments for the type parameters of functions that cannot be named without.
const GENERIC: &[(&str, &str)] = &[
    ("std::env::var", "<&str>"),
    ("std::env::var_os", "<&str>"),
    ("std::env::set_current_dir", "<&str>"),
    ("std::fs::copy", "<&str, &str>"),
    ("std::fs::create_dir", "<&str>"),
    ("std::fs::create_dir_all", "<&str>"),
    ("std::fs::metadata", "<&str>"),
    ("std::fs::read", "<&str>"),
    ("std::fs::read_dir", "<&str>"),
    ("std::fs::read_to_string", "<&str>"),
    ("std::fs::remove_dir_all", "<&str>"),
    ("std::fs::remove_file", "<&str>"),
    ("std::fs::rename", "<&str, &str>"),
    ("std::fs::write", "<&str, &str>"),
    ("std::thread::spawn", "<fn(), ()>"),
    ("std::thread::scope", "<fn(&std::thread::Scope<'_, '_>), ()>"),
];

/// Bans that a crate without dependencies can break.
fn breakable(paths: &[&'static str]) -> Vec<&'static str> {
    let roots = ["std::", "f64::", "f32::"];
    paths.iter().copied().filter(|path| roots.iter().any(|root| path.starts_with(root))).collect()
}

/// A source file that breaks every ban of `groups`, one a line.
fn sample(groups: &[Group]) -> String {
    let mut text = "//! Breaks every ban.\n#![allow(clippy::all, unused)]\n\
                    #![warn(clippy::disallowed_methods, clippy::disallowed_types)]\n\
                    fn methods() {\n"
        .to_owned();
    for path in groups.iter().flat_map(|group| breakable(group.methods)) {
        // `scope` has a lifetime that only a call can give.
        if path == "std::thread::scope" {
            text.push_str("std::thread::scope(|_| ());\n");
            continue;
        }
        let parameters = GENERIC.iter().find(|(name, _)| *name == path);
        let parameters = parameters.map(|(_, list)| format!("::{list}")).unwrap_or_default();
        text.push_str(&format!("let _ = {path}{parameters};\n"));
    }
    text.push_str("}\n");
    for path in groups.iter().flat_map(|group| breakable(group.types)) {
        text.push_str(&format!("use {path} as _;\n"));
    }
    text
}

fn clippy(folder: &Path) -> String {
    let mut command = Command::new("cargo");
    command.current_dir(folder).args(["clippy", "--quiet", "--offline"]);
    command.env("CARGO_TARGET_DIR", folder.join("target"));
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn reports(groups: &[Group], source: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let manifest =
        "[package]\nname = \"sample\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n";
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.path().join("clippy.toml"), clippy_files::render(groups)).unwrap();
    fs::write(folder.path().join("lib.rs"), source).unwrap();
    clippy(folder.path())
}

fn pure() -> &'static [Group] {
    PROFILES.iter().find(|profile| profile.folder == "crates/flow").unwrap().groups
}

#[test]
fn clippy_refuses_every_ban_of_a_pure_crate() {
    let groups: Vec<Group> = EVERYWHERE.iter().chain(pure()).copied().collect();
    let said = reports(pure(), &sample(&groups));
    let mut missing = Vec::new();
    for group in &groups {
        for path in breakable(group.methods) {
            if !said.contains(&format!("use of a disallowed method `{path}`")) {
                missing.push(path);
            }
        }
        for path in breakable(group.types) {
            if !said.contains(&format!("use of a disallowed type `{path}`")) {
                missing.push(path);
            }
        }
    }
    assert!(missing.is_empty(), "clippy let pass {missing:?}; it said:\n{said}");
    let clean = !said.contains("does not refer to") && !said.contains("error");
    assert!(clean, "a path of the list leads nowhere:\n{said}");
}

#[test]
fn exact_mathematics_and_ordered_maps_are_not_refused() {
    let source = "//! Breaks no ban.\npub fn f(x: f64) -> f64 {\n\
                  let m = std::collections::BTreeMap::from([(1, x.sqrt().mul_add(2.0, x.abs()))]);\n\
                  m[&1].max(x.floor())\n}\n";
    assert_eq!(reports(pure(), source), "");
}
