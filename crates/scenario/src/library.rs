//! The texts of scenarios and topologies: those of two folders, or those that were compiled in.
//! The only place of this crate that reads files.

use crate::error::ScenarioError;
use std::collections::BTreeMap;
use std::path::Path;

/// Families whose scenarios belong to a dialect: they are played through it, or by name. Whoever
/// names no scenario means all others.
pub const DIALECTS: [&str; 4] = ["incident-sim", "netarena", "sentinel", "triage"];

/// Whether the scenario of this name belongs to a dialect.
pub fn of_dialect(name: &str) -> bool {
    name.split_once('/').is_some_and(|(family, _)| DIALECTS.contains(&family))
}

/// Texts by name; scenarios are called `family/stem`, topologies `stem`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Library {
    /// Texts of topologies.
    pub topologies: BTreeMap<String, String>,
    /// Texts of scenarios.
    pub scenarios: BTreeMap<String, String>,
}

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

impl Library {
    /// The scenarios and topologies that this program was built with.
    pub fn shipped() -> Library {
        let owned = |texts: &[(&str, &str)]| {
            texts.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect()
        };
        Library { topologies: owned(TOPOLOGIES), scenarios: owned(SCENARIOS) }
    }

    /// The folders `topologies` and `scenarios/<family>` below `root`.
    ///
    /// # Errors
    /// Names the folder or file that cannot be read.
    pub fn from_dirs(root: &Path) -> Result<Library, ScenarioError> {
        let topologies = texts(root, "topologies", "")?;
        let mut library = Library { topologies, scenarios: BTreeMap::new() };
        for family in folders(root, "scenarios")? {
            let folder = format!("scenarios/{family}");
            library.scenarios.extend(texts(root, &folder, &format!("{family}/"))?);
        }
        Ok(library)
    }

    /// Names of the scenarios that are meant where none is named: those of no dialect.
    pub fn ordinary(&self) -> impl Iterator<Item = &String> {
        self.scenarios.keys().filter(|name| !of_dialect(name))
    }

    /// The text of the topology called `name`.
    pub fn topology(&self, name: &str) -> Option<&str> {
        self.topologies.get(name).map(String::as_str)
    }

    /// The text of the scenario called `family/stem`.
    pub fn scenario(&self, name: &str) -> Option<&str> {
        self.scenarios.get(name).map(String::as_str)
    }
}

/// Texts of the YAML files of one folder.
fn texts(
    root: &Path,
    folder: &str,
    prefix: &str,
) -> Result<BTreeMap<String, String>, ScenarioError> {
    let mut texts = BTreeMap::new();
    for (name, is_dir) in entries(root, folder)? {
        let Some(stem) = name.strip_suffix(".yaml").filter(|_| !is_dir) else { continue };
        let file = format!("{folder}/{name}");
        let text =
            std::fs::read_to_string(root.join(&file)).map_err(|error| failed(&file, &error))?;
        texts.insert(format!("{prefix}{stem}"), text);
    }
    Ok(texts)
}

fn folders(root: &Path, folder: &str) -> Result<Vec<String>, ScenarioError> {
    let all = entries(root, folder)?;
    Ok(all.into_iter().filter(|(_, is_dir)| *is_dir).map(|(name, _)| name).collect())
}

/// Names in a folder and whether they are folders, sorted.
fn entries(root: &Path, folder: &str) -> Result<Vec<(String, bool)>, ScenarioError> {
    let mut names = Vec::new();
    let entries = std::fs::read_dir(root.join(folder)).map_err(|error| failed(folder, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed(folder, &error))?;
        names.push((entry.file_name().to_string_lossy().into_owned(), entry.path().is_dir()));
    }
    names.sort();
    Ok(names)
}

fn failed(file: &str, error: &std::io::Error) -> ScenarioError {
    let message = format!("cannot be read: {error}");
    ScenarioError { file: file.into(), line: 0, column: 0, message }
}
