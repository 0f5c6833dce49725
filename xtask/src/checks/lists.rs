//! `lists`: what lies in a folder is in its list, and the other way round. A member that somebody
//! forgot to list fails here instead of being absent in silence.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use proc_macro2::{TokenStream, TokenTree};

use super::Check;
use crate::clippy_files::NO_KIND;
use crate::outcome::{Finding, Outcome};
use crate::source_tree;
use crate::workspace::Workspace;

/// The check.
pub const CHECK: Check =
    Check { name: "lists", summary: "every member of a folder is in its list", run: check };

const SERVICES: &str = "services";
const KINDS: &str = "crates/fleet/src/kinds.rs";

/// Folders whose `mod.rs` (or the file beside it, of the same name) is the list of their files.
const CATALOGUES: &[&str] = &[
    "crates/action/src/catalogue",
    "crates/fault/src/catalogue",
    "crates/shell/src/commands",
    "orchestrator/src/dialects",
    "services/grader/src/terms",
];

fn check(workspace: &Workspace) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    check_kinds(workspace, &mut outcome)?;
    for folder in CATALOGUES {
        check_catalogue(workspace, folder, &mut outcome)?;
    }
    for folder in ["crates", SERVICES] {
        check_members(workspace, folder, &mut outcome)?;
    }
    Ok(outcome)
}

/// Folder, proto and line of every component kind.
fn check_kinds(workspace: &Workspace, outcome: &mut Outcome) -> Result<()> {
    let list = workspace.path(KINDS);
    let listed = if list.is_file() {
        Some(words(&list)?)
    } else {
        outcome.note(format!("skipped the list of kinds: there is no {KINDS} yet"));
        None
    };
    let protos = workspace.path("proto/mayday").is_dir();
    if !protos {
        outcome.note("skipped the protos of kinds: there is no proto/mayday yet");
    }
    let kinds = source_tree::folder_names(&workspace.path(SERVICES))?;
    for kind in kinds.iter().filter(|kind| *kind != NO_KIND) {
        let place = format!("{SERVICES}/{kind}");
        let proto = format!("proto/mayday/{kind}/v1/{kind}.proto");
        if protos && !workspace.path(&proto).is_file() {
            let way_out = format!("write {proto} and run `cargo xtask codegen`");
            outcome.find(Finding::new(&place, "has no proto", way_out));
        }
        if listed.as_ref().is_some_and(|words| !words.contains(kind)) {
            let way_out = format!("add its line to {KINDS}");
            outcome.find(Finding::new(&place, "is not in the list of kinds", way_out));
        }
    }
    Ok(())
}

/// Every file of a catalogue is declared in its `mod.rs`, and used there once more: in the list.
fn check_catalogue(workspace: &Workspace, folder: &str, outcome: &mut Outcome) -> Result<()> {
    let full = workspace.path(folder);
    if !full.is_dir() {
        outcome.note(format!("skipped {folder}: it does not exist yet"));
        return Ok(());
    }
    let homes = [full.join("mod.rs"), full.with_extension("rs")];
    let Some(list) = homes.iter().find(|home| home.is_file()) else {
        outcome.find(Finding::new(folder, "has no mod.rs", "write the list of its members there"));
        return Ok(());
    };
    let words = words(list)?;
    for member in catalogue_members(&full)? {
        let place = format!("{folder}/{member}");
        let uses = words.iter().filter(|word| **word == member).count();
        let declared = words.windows(2).any(|pair| pair[0] == "mod" && pair[1] == member);
        let problem = match (uses, declared) {
            (0, _) => "is not declared in mod.rs",
            (1, true) => "is declared in mod.rs, but is not in the list there",
            _ => continue,
        };
        let way_out = format!("add its line to the list in {folder}/mod.rs");
        outcome.find(Finding::new(place, problem, way_out));
    }
    Ok(())
}

fn catalogue_members(folder: &Path) -> Result<Vec<String>> {
    let mut members = Vec::new();
    for path in source_tree::entries(folder)? {
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        match stem {
            Some(stem) if path.is_dir() || (is_source && !NOT_MEMBERS.contains(&&*stem)) => {
                members.push(stem);
            }
            _ => {}
        }
    }
    Ok(members)
}

/// Files of a catalogue's folder that are no members.
const NOT_MEMBERS: &[&str] = &["mod", "tests"];

/// Every folder of crates is a crate.
fn check_members(workspace: &Workspace, folder: &str, outcome: &mut Outcome) -> Result<()> {
    for name in source_tree::folder_names(&workspace.path(folder))? {
        if !workspace.path(&format!("{folder}/{name}/Cargo.toml")).is_file() {
            let place = format!("{folder}/{name}");
            outcome.find(Finding::new(place, "is no crate", "give it a Cargo.toml or remove it"));
        }
    }
    Ok(())
}

/// All identifiers of a file in order, comments and strings left out.
fn words(path: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let tokens: TokenStream =
        text.parse().map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    let mut words = Vec::new();
    collect_words(tokens, &mut words);
    Ok(words)
}

fn collect_words(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => words.push(ident.to_string()),
            TokenTree::Group(group) => collect_words(group.stream(), words),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::CHECK;
    use crate::workspace::Workspace;

    fn put(root: &Path, path: &str, text: &str) {
        let full = root.join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    fn problems(root: &Path) -> Vec<String> {
        let outcome = (CHECK.run)(&Workspace::at(root)).unwrap();
        outcome.findings.iter().map(|one| format!("{} {}", one.place, one.problem)).collect()
    }

    #[test]
    fn an_empty_workspace_passes_with_notes() {
        let root = tempfile::tempdir().unwrap();
        let outcome = (CHECK.run)(&Workspace::at(root.path())).unwrap();
        assert!(outcome.passed());
        assert_eq!(outcome.notes.len(), 7);
    }

    #[test]
    fn a_kind_needs_its_proto_and_its_line() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "services/db/Cargo.toml", "");
        put(root.path(), "services/grader/Cargo.toml", "");
        put(root.path(), "proto/mayday/control/v1/control.proto", "");
        put(root.path(), "crates/fleet/src/kinds.rs", "// db\nconst KINDS: &[&str] = &[\"db\"];");
        put(root.path(), "crates/fleet/Cargo.toml", "");
        assert_eq!(
            problems(root.path()),
            ["services/db has no proto", "services/db is not in the list of kinds"]
        );
        put(root.path(), "proto/mayday/db/v1/db.proto", "");
        put(root.path(), "crates/fleet/src/kinds.rs", "const KINDS: &[K] = &[db::KIND];");
        assert!(problems(root.path()).is_empty());
    }

    #[test]
    fn a_catalogue_file_needs_its_line() {
        let root = tempfile::tempdir().unwrap();
        let folder = "crates/fault/src/catalogue";
        put(root.path(), "crates/fault/Cargo.toml", "");
        for member in ["leak", "lock"] {
            put(root.path(), &format!("{folder}/{member}.rs"), "");
        }
        put(root.path(), &format!("{folder}/mod.rs"), "mod leak;");
        assert_eq!(
            problems(root.path()),
            [
                format!("{folder}/leak is declared in mod.rs, but is not in the list there"),
                format!("{folder}/lock is not declared in mod.rs"),
            ]
        );
        let listed = "mod leak; mod lock; const ALL: &[F] = &[leak::FAULT, lock::FAULT];";
        put(root.path(), &format!("{folder}/mod.rs"), listed);
        assert!(problems(root.path()).is_empty());
        put(root.path(), &format!("{folder}/mod.rs"), "catalogue! { leak, lock }");
        assert!(problems(root.path()).is_empty());
        fs::remove_file(root.path().join(folder).join("mod.rs")).unwrap();
        assert_eq!(problems(root.path()), [format!("{folder} has no mod.rs")]);
        put(root.path(), &format!("{folder}.rs"), "catalogue! { leak }");
        assert_eq!(problems(root.path()), [format!("{folder}/lock is not declared in mod.rs")]);
    }

    #[test]
    fn a_folder_among_the_crates_must_be_one() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "crates/stray/readme.txt", "");
        assert_eq!(problems(root.path()), ["crates/stray is no crate"]);
    }
}
