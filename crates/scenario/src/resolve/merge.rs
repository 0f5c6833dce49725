//! Overrides: fields of a scenario laid over those of its topology, each keeping its place.

use super::lookup::edge_ends;
use crate::raw::{Flaw, Key, Node, Value};
use action::near::suggestion;

/// Lays `over` (hosts, components, edges, classes, names by name) over the topology.
pub(super) fn lay_over(topology: &mut Node, over: &Node) -> Result<(), Flaw> {
    let sections =
        [("hosts", "host"), ("components", "component"), ("classes", "class"), ("names", "name")];
    for (section, noun) in sections {
        for (key, fields) in over.map(section) {
            let target = find(topology, section, key, noun)?;
            replace(target, fields);
        }
    }
    for (key, fields) in over.map("edges") {
        replace(find_edge(topology, key)?, fields);
    }
    Ok(())
}

fn find<'a>(
    topology: &'a mut Node,
    section: &str,
    key: &Key,
    noun: &str,
) -> Result<&'a mut Node, Flaw> {
    let known: Vec<_> = topology.map(section).iter().map(|(key, _)| key.name.clone()).collect();
    let found = field_mut(topology, section)
        .and_then(|section| field_mut(section, &key.name))
        .filter(|node| matches!(node.value, Value::Map(_)));
    found.ok_or_else(|| {
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        Flaw::new(key.at, suggestion(noun, &key.name, &known))
    })
}

fn find_edge<'a>(topology: &'a mut Node, key: &Key) -> Result<&'a mut Node, Flaw> {
    let name = |edge: &Node| format!("{} -> {}", edge.text("from"), edge.text("to"));
    let known: Vec<_> = topology.list("edges").iter().map(name).collect();
    let wanted = edge_ends(&key.name).map(|(from, to)| format!("{from} -> {to}"));
    let items = match field_mut(topology, "edges").map(|node| &mut node.value) {
        Some(Value::List(items)) => &mut items[..],
        _ => &mut [],
    };
    items.iter_mut().find(|edge| wanted.as_ref() == Some(&name(edge))).ok_or_else(|| {
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        Flaw::new(key.at, suggestion("edge", &key.name, &known))
    })
}

fn field_mut<'a>(node: &'a mut Node, name: &str) -> Option<&'a mut Node> {
    match &mut node.value {
        Value::Map(fields) => {
            fields.iter_mut().find(|(key, _)| key.name == name).map(|(_, node)| node)
        }
        _ => None,
    }
}

fn replace(target: &mut Node, fields: &Node) {
    let Value::Map(present) = &mut target.value else { return };
    for (key, value) in fields.fields() {
        match present.iter_mut().find(|(known, _)| known.name == key.name) {
            Some(entry) => *entry = (key.clone(), value.clone()),
            None => present.push((key.clone(), value.clone())),
        }
    }
}
