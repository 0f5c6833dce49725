//! Edges: ends, operations, calls per request, policies; no cycles.

use super::lookup;
use crate::format::{BREAKER, POLICY, POOL, default_of};
use crate::grammar::missing_field;
use crate::raw::{Flaw, Node};
use action::near::suggestion;
use machine::Kinds;
use model::{
    BreakerPolicy, EdgeId, EdgePolicy, EdgeSpec, InstanceId, PerClass, PoolPolicy, Topology,
};

/// Most edges of a topology.
const EDGES_MAX: usize = 200;

/// The edges of a topology whose instances and classes are known; the users' come first.
pub(super) fn edges(
    node: &Node,
    topology: &Topology,
    kinds: &dyn Kinds,
) -> Result<Vec<EdgeSpec>, Flaw> {
    let written = node.list("edges");
    let of_users = |edge: &&Node| edge.text("from") == "users";
    let entries = written.iter().filter(of_users);
    let inner = written.iter().filter(|edge| !of_users(edge));
    if entries.clone().next().is_none() {
        return Err(Flaw::new(node.at("edges"), "no edge comes from `users`"));
    }
    if written.len() > EDGES_MAX {
        let message = format!("there are {} edges; expected at most {EDGES_MAX}", written.len());
        return Err(Flaw::new(node.at("edges"), message));
    }
    let mut edges: Vec<EdgeSpec> = Vec::new();
    for written in entries.chain(inner) {
        let edge = edge(EdgeId(edges.len() as u16), written, topology, kinds)?;
        if edges.iter().any(|known| known.from == edge.from && known.to == edge.to) {
            let (from, to) = (written.text("from"), written.text("to"));
            return Err(Flaw::new(written.at, format!("there are two edges {from} -> {to}")));
        }
        edges.push(edge);
        if let Some(cycle) = cycle(&edges, topology) {
            return Err(Flaw::new(written.at, format!("calls go round in a circle: {cycle}")));
        }
    }
    Ok(edges)
}

fn edge(id: EdgeId, node: &Node, topology: &Topology, kinds: &dyn Kinds) -> Result<EdgeSpec, Flaw> {
    let from = match node.text("from") {
        "users" => None,
        name => Some(server(topology, name, node, "from")?),
    };
    let to = server(topology, node.text("to"), node, "to")?;
    let operation = operation(node, &topology.instances[to.at()].kind, kinds)?;
    let (calls, policy) = (calls(node, topology, from)?, policy(node));
    Ok(EdgeSpec { id, from, to, operation, policy, calls })
}

fn server(topology: &Topology, name: &str, node: &Node, field: &str) -> Result<InstanceId, Flaw> {
    let id = lookup::instance(topology, name, node.at(field))?;
    if topology.instances[id.at()].kind == "host" {
        return Err(Flaw::new(node.at(field), format!("{name} is a host; nobody calls hosts")));
    }
    Ok(id)
}

fn operation(node: &Node, kind: &str, kinds: &dyn Kinds) -> Result<String, Flaw> {
    let rpcs = kinds.find(kind).map_or(&[][..], |kind| kind.rpcs());
    // What is kept is handled without anybody's call.
    let known: Vec<_> = rpcs.iter().copied().filter(|rpc| *rpc != model::PROCESS).collect();
    match (node.get("operation"), &known[..]) {
        (Some(named), _) if known.contains(&named.word()) => Ok(named.word().into()),
        (Some(named), _) => {
            let noun = format!("operation of kind {kind}");
            Err(Flaw::new(named.at, suggestion(&noun, named.word(), &known)))
        }
        (None, [only]) => Ok((*only).into()),
        (None, _) => {
            Err(missing_field(node.at, "operation", &format!("one of {}", known.join(", "))))
        }
    }
}

fn calls(node: &Node, topology: &Topology, from: Option<InstanceId>) -> Result<PerClass, Flaw> {
    match node.get("calls") {
        Some(calls) if from.is_none() => {
            Err(Flaw::new(calls.at, "users send a class where its `entry` is; give no `calls`"))
        }
        Some(calls) => lookup::per_class(topology, calls.fields(), 0.0),
        None => lookup::per_class(topology, &[], 1.0),
    }
}

fn policy(node: &Node) -> EdgePolicy {
    let number = |name: &str| node.number(name, default_of(POLICY, name));
    EdgePolicy {
        timeout_s: number("timeout"),
        retries: number("retries") as u32,
        backoff_s: number("backoff"),
        retry_budget: node.get("retry_budget").map(|_| node.number("retry_budget", 1.0)),
        breaker: node.get("breaker").map(|breaker| {
            let number = |name: &str| breaker.number(name, default_of(BREAKER, name));
            BreakerPolicy {
                failure_ratio: number("failure_ratio"),
                volume_min: number("volume_min"),
                open_s: number("open"),
                probe_ratio: number("probe_ratio"),
            }
        }),
        pool: node.get("pool").map(|pool| {
            let number = |name: &str| pool.number(name, default_of(POOL, name));
            PoolPolicy { size: number("size"), acquire_timeout_s: number("acquire_timeout") }
        }),
        propagate_deadline: node.flag("propagate_deadline", false),
    }
}

/// The circle that the last edge closes, by name.
fn cycle(edges: &[EdgeSpec], topology: &Topology) -> Option<String> {
    let last = edges.last()?;
    let start = last.from?;
    let mut path = vec![start, last.to];
    if !reach(edges, start, &mut path, &mut vec![false; topology.instances.len()]) {
        return None;
    }
    let names: Vec<_> = path.iter().map(|id| topology.instances[id.at()].name.as_str()).collect();
    Some(names.join(" -> "))
}

fn reach(
    edges: &[EdgeSpec],
    goal: InstanceId,
    path: &mut Vec<InstanceId>,
    seen: &mut Vec<bool>,
) -> bool {
    let Some(here) = path.last().copied() else { return false };
    if here == goal {
        return true;
    }
    if std::mem::replace(&mut seen[here.at()], true) {
        return false;
    }
    for edge in edges.iter().filter(|edge| edge.from == Some(here)) {
        path.push(edge.to);
        if reach(edges, goal, path, seen) {
            return true;
        }
        path.pop();
    }
    false
}
