//! From the texts of a library to resolved scenarios and topologies.

use crate::error::ScenarioError;
use crate::format::{SCENARIO, TOPOLOGY};
use crate::grammar;
use crate::library::Library;
use crate::raw::{self, At, Flaw, Node};
use crate::resolve;
use crate::resolved::{FORMAT, Scenario};
use action::near::suggestion;
use machine::Kinds;
use model::Topology;

/// The scenario `family/stem` of the library.
///
/// # Errors
/// Where there is none, or the first thing that is wrong in it or in its topology.
pub fn load(library: &Library, name: &str, kinds: &dyn Kinds) -> Result<Scenario, ScenarioError> {
    let text = library.scenario(name).ok_or_else(|| {
        let known: Vec<_> = library.scenarios.keys().map(String::as_str).collect();
        absent(&scenario_file(name), suggestion("scenario", name, &known))
    })?;
    parse(library, name, text, kinds)
}

/// The scenario in `text`, to be called `family/stem`; topologies come from the library.
///
/// # Errors
/// The first thing that is wrong in it or in its topology.
pub fn parse(
    library: &Library,
    name: &str,
    text: &str,
    kinds: &dyn Kinds,
) -> Result<Scenario, ScenarioError> {
    let mut files = vec![scenario_file(name)];
    resolve_scenario(library, name, text, kinds, &mut files).map_err(|flaw| flaw.named(&files))
}

/// The topology `name` of the library.
///
/// # Errors
/// Where there is none, or the first thing that is wrong in it.
pub fn topology(
    library: &Library,
    name: &str,
    kinds: &dyn Kinds,
) -> Result<Topology, ScenarioError> {
    let files = [topology_file(name)];
    let text = library.topology(name).ok_or_else(|| {
        let known: Vec<_> = library.topologies.keys().map(String::as_str).collect();
        absent(&files[0], suggestion("topology", name, &known))
    })?;
    let resolved = raw::parse(text, 0).and_then(|mut node| {
        grammar::check(&mut node, &TOPOLOGY)?;
        check_format(&node)?;
        resolve::topology(name, &node, kinds)
    });
    resolved.map_err(|flaw| flaw.named(&files))
}

/// The file of a scenario, relative to the root of the library.
pub fn scenario_file(name: &str) -> String {
    format!("scenarios/{name}.yaml")
}

/// The file of a topology, relative to the root of the library.
pub fn topology_file(name: &str) -> String {
    format!("topologies/{name}.yaml")
}

fn absent(file: &str, message: String) -> ScenarioError {
    ScenarioError { file: file.into(), line: 0, column: 0, message }
}

fn resolve_scenario(
    library: &Library,
    name: &str,
    text: &str,
    kinds: &dyn Kinds,
    files: &mut Vec<String>,
) -> Result<Scenario, Flaw> {
    let mut node = raw::parse(text, 0)?;
    grammar::check(&mut node, &SCENARIO)?;
    check_format(&node)?;
    let Some(named) = node.get("topology") else {
        return Err(Flaw::new(node.at, "`topology` is missing"));
    };
    let base = match named.word() {
        "" => (name.to_string(), named.clone()),
        word => (word.to_string(), read_topology(library, word, named.at, files)?),
    };
    resolve::scenario(name, &node, (&base.0, base.1), kinds)
}

fn read_topology(
    library: &Library,
    name: &str,
    at: At,
    files: &mut Vec<String>,
) -> Result<Node, Flaw> {
    let text = library.topology(name).ok_or_else(|| {
        let known: Vec<_> = library.topologies.keys().map(String::as_str).collect();
        Flaw::new(at, suggestion("topology", name, &known))
    })?;
    files.push(topology_file(name));
    let mut node = raw::parse(text, 1)?;
    // Before the overrides: what is wrong in the file is said of the file.
    grammar::check(&mut node, &TOPOLOGY)?;
    check_format(&node)?;
    Ok(node)
}

fn check_format(node: &Node) -> Result<(), Flaw> {
    let format = node.number("format", f64::from(FORMAT));
    if format == f64::from(FORMAT) {
        return Ok(());
    }
    let message = format!("`format` is {format}; this program reads {FORMAT}");
    Err(Flaw::new(node.at("format"), message))
}
