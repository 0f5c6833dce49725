//! Writes the list of shipped scenario and topology files, so that the program plays anywhere.

use std::fmt::Write;
use std::path::{Path, PathBuf};

#[expect(clippy::disallowed_methods, reason = "cargo names its folders in no other way")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    // At run time: a build script that another checkout left in a shared target folder is stale.
    let crate_folder =
        std::env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?;
    let root = Path::new(&crate_folder).join("../..").canonicalize()?;
    let mut list = String::new();
    write_list(&mut list, "TOPOLOGIES", &files(&root.join("topologies"), "")?)?;
    let mut scenarios = Vec::new();
    for family in entries(&root.join("scenarios"))?.iter().filter(|path| path.is_dir()) {
        scenarios.extend(files(family, &format!("{}/", stem(family)))?);
    }
    write_list(&mut list, "SCENARIOS", &scenarios)?;
    let out = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    std::fs::write(Path::new(&out).join("shipped.rs"), list)?;
    Ok(())
}

fn write_list(list: &mut String, name: &str, files: &[(String, PathBuf)]) -> std::fmt::Result {
    writeln!(list, "const {name}: &[(&str, &str)] = &[")?;
    for (name, path) in files {
        writeln!(list, "    ({name:?}, include_str!({:?})),", path.display().to_string())?;
    }
    writeln!(list, "];")
}

/// Names and paths of the YAML files of a folder, sorted.
fn files(folder: &Path, prefix: &str) -> std::io::Result<Vec<(String, PathBuf)>> {
    let yaml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "yaml");
    let paths = entries(folder)?.into_iter().filter(yaml);
    Ok(paths.map(|path| (format!("{prefix}{}", stem(&path)), path)).collect())
}

/// Paths in a folder, sorted; none where there is no folder. The folder is watched.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
