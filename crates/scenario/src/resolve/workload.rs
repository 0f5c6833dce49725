//! Demand and its bursts.

use super::lookup;
use crate::grammar::{self, missing_field};
use crate::raw::{Flaw, Node};
use crate::resolved::{Burst, Demand, Workload};
use model::{CLASSES_MAX, ClassId, Tick, Topology};

/// What users want.
pub(super) fn workload(node: &Node, topology: &Topology) -> Result<Workload, Flaw> {
    let shape = node.get("shape");
    let shape = |name: &str, absent: f64| shape.map_or(absent, |node| node.number(name, absent));
    let (low, high) = node.get("hold").and_then(grammar::span).unwrap_or((30.0, 60.0));
    let bursts = node.list("bursts").iter().map(|node| {
        let from = node.number("at", 0.0) as i64;
        let to = from + node.number("for", 1.0) as i64;
        burst(node, topology, from, to, node.number("factor", 1.0))
    });
    Ok(Workload {
        demand: demand(node, topology)?,
        daily_amplitude: shape("daily_amplitude", 0.0),
        period_s: shape("period", 86_400.0),
        hold_min_s: low as u32,
        hold_max_s: high as u32,
        jitter: node.number("jitter", 0.02),
        bursts: bursts.collect::<Result<_, _>>()?,
    })
}

fn demand(node: &Node, topology: &Topology) -> Result<Vec<Demand>, Flaw> {
    let written = node.map("demand");
    for (key, _) in written {
        lookup::named(topology, &key.name, key.at)?;
    }
    let find = |name: &str| written.iter().any(|(key, _)| key.name == name);
    if let Some(class) = topology.classes.iter().find(|c| !find(&c.name) && !find(&c.route)) {
        let expected = "the demand of every class, such as 300/s";
        return Err(missing_field(node.at("demand"), &class.name, expected));
    }
    let rates = lookup::per_class(topology, written, 0.0)?;
    let each = topology.classes.iter().zip(rates).enumerate();
    Ok(each.map(|(at, (_, rate))| Demand { class: ClassId(at as u8), rate }).collect())
}

/// A step in the demand of some classes.
pub(super) fn burst(
    node: &Node,
    topology: &Topology,
    from: i64,
    to: i64,
    factor: f64,
) -> Result<Burst, Flaw> {
    if to <= from {
        return Err(Flaw::new(node.at, "ends before it begins"));
    }
    let mut factors = [1.0; CLASSES_MAX];
    for class in lookup::classes(topology, node.get("classes"))? {
        factors[class.at()] = factor;
    }
    Ok(Burst { from: Tick(from), to: Tick(to), factor: factors })
}
