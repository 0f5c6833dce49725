//! Names of components: whose they are, and who answers for them.

use super::lookup;
use crate::raw::{Flaw, Key, Node};
use machine::Kinds;
use model::{InstanceId, NAMES_MAX, NameSpec, Topology};

/// How long a cache keeps an answer where nothing is said, seconds.
const TTL_S: f64 = 60.0;
/// Longest name, characters.
const LENGTH_MAX: usize = 100;

/// The names of a topology whose instances and edges are known.
pub(super) fn names(
    node: &Node,
    topology: &Topology,
    kinds: &dyn Kinds,
) -> Result<Vec<NameSpec>, Flaw> {
    let mut names: Vec<NameSpec> = Vec::new();
    for (key, written) in node.map("names") {
        check(key)?;
        let component =
            lookup::instance(topology, written.text("component"), written.at("component"))?;
        let called = topology.edges.iter().any(|e| e.to == component && e.from.is_some());
        if !called {
            let message = format!("no component calls {}", written.text("component"));
            return Err(Flaw::new(written.at("component"), message));
        }
        if names.iter().any(|known| known.component == component) {
            let message = format!("{} has a name already", written.text("component"));
            return Err(Flaw::new(written.at("component"), message));
        }
        let resolver = resolver(written, topology, kinds)?;
        if names.iter().filter(|known| known.resolver == resolver).count() == NAMES_MAX {
            let message = format!("{} has more than {NAMES_MAX} names", written.text("resolver"));
            return Err(Flaw::new(key.at, message));
        }
        let ttl_s = written.number("ttl", TTL_S);
        names.push(NameSpec { name: key.name.clone(), component, resolver, ttl_s });
    }
    Ok(names)
}

fn resolver(node: &Node, topology: &Topology, kinds: &dyn Kinds) -> Result<InstanceId, Flaw> {
    let (name, at) = (node.text("resolver"), node.at("resolver"));
    let id = lookup::instance(topology, name, at)?;
    let kind = &topology.instances[id.at()].kind;
    if kinds.find(kind).is_some_and(|kind| kind.resolves()) {
        return Ok(id);
    }
    let able: Vec<_> = kinds.all().iter().filter(|k| k.resolves()).map(|k| k.name()).collect();
    let able = if able.is_empty() { "no kind".into() } else { able.join(", ") };
    Err(Flaw::new(at, format!("{name} of kind {kind} answers for no names; {able} does")))
}

/// A host name: labels of letters, digits and hyphens, joined by dots.
fn check(key: &Key) -> Result<(), Flaw> {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let label = |label: &str| {
        !label.is_empty()
            && label.chars().all(letter)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let name = &key.name;
    if name.len() <= LENGTH_MAX && name.contains('.') && name.split('.').all(label) {
        return Ok(());
    }
    let message = format!(
        "{name:?} is no host name; expected two or more labels joined by dots, of lower-case \
         letters, digits and hyphens, such as orders.shop.internal, at most {LENGTH_MAX} characters"
    );
    Err(Flaw::new(key.at, message))
}
