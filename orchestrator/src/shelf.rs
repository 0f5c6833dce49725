//! Scenarios as the command line names them: `family/stem`, a stem or a family alone, or a file.

use crate::failure::Failure;
use action::near::suggestion;
use episode::AllKinds;
use scenario::{Library, Scenario, ScenarioError, of_dialect};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where scenarios come from.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct LibraryArgs {
    /// Folder with `scenarios/` and `topologies/`; default: those that mayday was built with.
    #[arg(long, value_name = "DIR", env = "MAYDAY_LIBRARY")]
    pub library: Option<PathBuf>,
}

impl LibraryArgs {
    /// Opens it.
    ///
    /// # Errors
    /// Where a folder or a file cannot be read.
    pub fn open(&self) -> Result<Shelf, Failure> {
        let library = match &self.library {
            None => Library::shipped(),
            Some(root) => Library::from_dirs(root).map_err(|error| {
                Failure::usage(format!(
                    "--library {}: {} {}; it has to hold the folders scenarios/ and topologies/",
                    root.display(),
                    error.file,
                    error.message
                ))
            })?,
        };
        Ok(Shelf { library, kinds: fleet::kinds(), chosen: self.library.is_some() })
    }
}

/// An opened library.
#[derive(Clone, Debug)]
pub struct Shelf {
    library: Library,
    kinds: AllKinds,
    /// The user chose it.
    chosen: bool,
}

impl Shelf {
    /// Names of all scenarios, in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        self.library.scenarios.keys().cloned().collect()
    }

    /// The names and files that these words mean; no words: all names but those of dialects.
    ///
    /// # Errors
    /// Names the nearest scenario where a word means none.
    pub fn select(&self, words: &[String]) -> Result<Vec<String>, Failure> {
        select(&self.names(), words)
    }

    /// The scenario of that name or in that file, resolved.
    ///
    /// # Errors
    /// What is wrong with it, at file, line and column, with the line itself.
    pub fn load(&self, name: &str) -> Result<Arc<Scenario>, Failure> {
        if is_file(name) {
            return self.load_file(Path::new(name));
        }
        let loaded = scenario::load(&self.library, name, &self.kinds);
        loaded.map(Arc::new).map_err(|error| told(&self.library, &error, None))
    }

    /// All of these, resolved.
    ///
    /// # Errors
    /// As [`Shelf::select`] and [`Shelf::load`].
    pub fn load_all(&self, words: &[String]) -> Result<Vec<Arc<Scenario>>, Failure> {
        let names = self.select(words)?;
        names.iter().map(|name| self.load(name).map_err(as_usage)).collect()
    }

    fn load_file(&self, path: &Path) -> Result<Arc<Scenario>, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let shown = path.display();
            Failure::usage(format!(
                "{shown}: {error}; expected a scenario file, or a name that `mayday scenario \
                     list` shows"
            ))
        })?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
        let name = format!("{}/{stem}", folder.filter(|f| !f.is_empty()).unwrap_or("file".into()));
        let library = self.around(path)?;
        let parsed = scenario::parse(&library, &name, &text, &self.kinds);
        parsed.map(Arc::new).map_err(|error| told(&library, &error, Some((path, &name, &text))))
    }

    /// The library that a file lies in, for its topologies; else this one.
    fn around(&self, path: &Path) -> Result<Library, Failure> {
        let root = path.canonicalize().ok().and_then(|p| Some(p.ancestors().nth(3)?.to_path_buf()));
        match root.filter(|root| !self.chosen && root.join("topologies").is_dir()) {
            Some(root) => Ok(LibraryArgs { library: Some(root) }.open()?.library),
            None => Ok(self.library.clone()),
        }
    }
}

/// The names among `names`, and the files, that these words mean; no words: all names but those
/// of dialects.
///
/// # Errors
/// Names the nearest scenario where a word means none.
pub fn select(names: &[String], words: &[String]) -> Result<Vec<String>, Failure> {
    if words.is_empty() && names.is_empty() {
        return Err(Failure::usage(
            "the library holds no scenarios: name a file, or use --library",
        ));
    }
    if words.is_empty() {
        return Ok(names.iter().filter(|name| !of_dialect(name)).cloned().collect());
    }
    let mut selected = Vec::new();
    for word in words {
        for name in meant(names, word)? {
            if !selected.contains(&name) {
                selected.push(name);
            }
        }
    }
    Ok(selected)
}

fn meant(names: &[String], word: &str) -> Result<Vec<String>, Failure> {
    if is_file(word) || names.iter().any(|name| name == word) {
        return Ok(vec![word.to_string()]);
    }
    let of = |part: fn(&str) -> &str| -> Vec<String> {
        names.iter().filter(|name| part(name) == word).cloned().collect()
    };
    let (family, mut stems) = (of(family), of(stem));
    // A stem that a dialect has too means the ordinary scenario; the other has its whole name.
    if stems.iter().any(|name| !of_dialect(name)) {
        stems.retain(|name| !of_dialect(name));
    }
    match (family.is_empty(), stems.len()) {
        (false, _) => Ok(family),
        (true, 1) => Ok(stems),
        (true, 0) => {
            let mut known: Vec<_> = names.iter().map(String::as_str).collect();
            let near =
                action::near::nearest(word, &names.iter().map(|n| stem(n)).collect::<Vec<_>>());
            if let Some(near) = near {
                // The nearest stem is meant by its whole name.
                let whole = known.iter().find(|name| stem(name) == near).copied();
                let whole = whole.unwrap_or(near);
                return Err(Failure::usage(format!(
                    "unknown scenario `{word}`; did you mean `{whole}`? `mayday scenario \
                     list` shows all; a file has to end in .yaml"
                )));
            }
            known.truncate(20);
            let sentence = suggestion("scenario", word, &known);
            Err(Failure::usage(format!("{sentence}; a file has to end in .yaml")))
        }
        (true, _) => Err(Failure::usage(format!(
            "`{word}` is the stem of several scenarios: name one of {}",
            stems.join(", ")
        ))),
    }
}

fn as_usage(failure: Failure) -> Failure {
    Failure::usage(failure)
}

fn is_file(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|e| e == "yaml" || e == "yml")
}

fn family(name: &str) -> &str {
    name.split_once('/').map_or("", |(family, _)| family)
}

fn stem(name: &str) -> &str {
    name.split_once('/').map_or(name, |(_, stem)| stem)
}

/// What is wrong, where, and the line itself. `file`: what was read from outside the library.
fn told(
    library: &Library,
    error: &ScenarioError,
    file: Option<(&Path, &String, &String)>,
) -> Failure {
    let mut error = error.clone();
    let in_file = file.filter(|(_, name, _)| error.file == scenario::load::scenario_file(name));
    let text = match in_file {
        Some((path, _, text)) => {
            error.file = path.display().to_string();
            Some(text.as_str())
        }
        None => text_of(library, &error.file),
    };
    let snippet = error.snippet(text.unwrap_or_default());
    if snippet.is_empty() {
        return Failure::failed(error);
    }
    let lines: Vec<_> = snippet.lines().map(|line| format!("  | {line}")).collect();
    Failure::failed(format!("{error}\n{}", lines.join("\n")))
}

fn text_of<'a>(library: &'a Library, file: &str) -> Option<&'a str> {
    let name = file.strip_suffix(".yaml")?;
    match name.split_once('/')? {
        ("scenarios", name) => library.scenario(name),
        (_, name) => library.topology(name),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Scenarios whose balance does not move.
    pub(crate) fn laboratory() -> Shelf {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/library");
        LibraryArgs { library: Some(root.into()) }.open().unwrap()
    }

    fn shelf(names: &[&str]) -> Shelf {
        let scenarios = names.iter().map(|name| (name.to_string(), "bad: [".to_string()));
        let library = Library { scenarios: scenarios.collect(), ..Library::default() };
        Shelf { library, kinds: fleet::kinds(), chosen: false }
    }

    #[test]
    fn words_mean_names_families_stems_and_files() {
        let names = [
            "data/lock",
            "data/leak",
            "overload/retry-storm",
            "host/leak",
            "sentinel/outage",
            "triage/lock",
        ];
        let shelf = shelf(&names);
        let select = |word: &str| shelf.select(&[word.to_string()]);
        for (word, names) in [
            ("data/lock", vec!["data/lock"]),
            ("data", vec!["data/leak", "data/lock"]),
            ("retry-storm", vec!["overload/retry-storm"]),
            ("sentinel", vec!["sentinel/outage"]),
            ("outage", vec!["sentinel/outage"]),
            ("lock", vec!["data/lock"]),
            ("triage/lock", vec!["triage/lock"]),
            ("some/where.yaml", vec!["some/where.yaml"]),
        ] {
            assert_eq!(select(word).unwrap(), names, "{word}");
        }
        assert_eq!(shelf.select(&[]).unwrap().len(), 4);
        for (word, says) in [
            ("retry-strom", "did you mean `overload/retry-storm`"),
            ("leak", "name one of data/leak, host/leak"),
            ("nothing/of/the/kind", "expected one of data/leak"),
        ] {
            let error = select(word).unwrap_err().to_string();
            assert!(error.contains(says), "{word}: {error}");
        }
    }

    #[test]
    fn every_ordinary_scenario_that_is_shipped_can_be_meant_by_its_stem() {
        let names = LibraryArgs::default().open().unwrap().names();
        assert!(names.iter().any(|name| name == "netarena/disk-full"), "a dialect has it too");
        for name in names.iter().filter(|name| !of_dialect(name)) {
            assert_eq!(
                select(&names, &[stem(name).to_string()]).unwrap(),
                std::slice::from_ref(name)
            );
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place_and_line() {
        let error = shelf(&["data/lock"]).load("data/lock").unwrap_err().to_string();
        assert!(error.starts_with("scenarios/data/lock.yaml:1:"), "{error}");
        assert!(error.contains("\n  | bad: ["), "{error}");
    }
}
