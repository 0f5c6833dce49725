//! Names to positions, with the place of a name that is not there; scalars to parameters.

use crate::grammar;
use crate::raw::{At, Flaw, Key, Node};
use action::near::suggestion;
use model::{ClassId, EdgeId, InstanceId, ParamSpec, Params, PerClass, Topology};

/// The place of the instance called `name`.
pub(super) fn instance(topology: &Topology, name: &str, at: At) -> Result<InstanceId, Flaw> {
    topology.instance(name).ok_or_else(|| {
        let known: Vec<_> = topology.instances.iter().map(|i| i.name.as_str()).collect();
        Flaw::new(at, suggestion("component", name, &known))
    })
}

/// A component or an edge, `caller -> callee`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Component(InstanceId),
    Edge(EdgeId),
}

/// The component or edge that a word names.
pub(super) fn place(topology: &Topology, node: &Node) -> Result<Place, Flaw> {
    let Some((from, to)) = edge_ends(node.word()) else {
        return instance(topology, node.word(), node.at).map(Place::Component);
    };
    if from != "users" {
        instance(topology, from, node.at)?;
    }
    instance(topology, to, node.at)?;
    match topology.edge(from, to) {
        Some(edge) => Ok(Place::Edge(edge.id)),
        None => {
            let known: Vec<_> =
                topology.edges.iter().map(|edge| edge_name(topology, edge.id)).collect();
            let known: Vec<_> = known.iter().map(String::as_str).collect();
            let name = format!("{from} -> {to}");
            Err(Flaw::new(node.at, suggestion("edge", &name, &known)))
        }
    }
}

/// The two ends of `caller -> callee`.
pub(super) fn edge_ends(text: &str) -> Option<(&str, &str)> {
    text.split_once("->").map(|(from, to)| (from.trim(), to.trim()))
}

/// An edge as `caller -> callee`.
pub(super) fn edge_name(topology: &Topology, id: EdgeId) -> String {
    let edge = &topology.edges[id.at()];
    let from = edge.from.map_or("users", |from| topology.instances[from.at()].name.as_str());
    format!("{from} -> {}", topology.instances[edge.to.at()].name)
}

/// The classes that a list or `all` names, in class order; absent: all.
pub(super) fn classes(topology: &Topology, node: Option<&Node>) -> Result<Vec<ClassId>, Flaw> {
    let all = || (0..topology.classes.len()).map(|at| ClassId(at as u8));
    let Some(node) = node.filter(|node| node.word() != "all") else {
        return Ok(all().collect());
    };
    let mut chosen = vec![false; topology.classes.len()];
    for item in node.items() {
        for at in named(topology, item.word(), item.at)? {
            chosen[at] = true;
        }
    }
    let chosen: Vec<_> = all().filter(|id| chosen[id.at()]).collect();
    if chosen.is_empty() {
        return Err(Flaw::new(node.at, "names no class; expected `all` or a list of classes"));
    }
    Ok(chosen)
}

/// Positions of the class or of the classes of the route called `name`.
pub(super) fn named(topology: &Topology, name: &str, at: At) -> Result<Vec<usize>, Flaw> {
    let of = |matches: &dyn Fn(&model::ClassSpec) -> bool| -> Vec<usize> {
        let classes = topology.classes.iter().enumerate();
        classes.filter(|(_, class)| matches(class)).map(|(at, _)| at).collect()
    };
    let exact = of(&|class| class.name == name);
    let found = if exact.is_empty() { of(&|class| class.route == name) } else { exact };
    if found.is_empty() {
        let known: Vec<_> = topology.classes.iter().map(|class| class.name.as_str()).collect();
        return Err(Flaw::new(at, suggestion("class or route", name, &known)));
    }
    Ok(found)
}

/// Numbers by class: a class's own name, its route, `*`, or `absent`, in this order.
pub(super) fn per_class(
    topology: &Topology,
    fields: &[(Key, Node)],
    absent: f64,
) -> Result<PerClass, Flaw> {
    let mut numbers = [0.0; model::CLASSES_MAX];
    for (key, _) in fields.iter().filter(|(key, _)| key.name != "*") {
        named(topology, &key.name, key.at)?;
    }
    let find = |name: &str| fields.iter().find(|(key, _)| key.name == name);
    for (number, class) in numbers.iter_mut().zip(&topology.classes) {
        let entry = find(&class.name).or_else(|| find(&class.route)).or_else(|| find("*"));
        *number = match entry.and_then(|(_, node)| node.scalar()) {
            Some(model::ParamValue::Number(n)) => *n,
            _ => absent,
        };
    }
    Ok(numbers)
}

/// Fields as parameters that fit `specs`, with all defaults. A flaw stands at its value, at an
/// unknown name, or at `whole` where one is missing.
pub(super) fn params<'a>(
    fields: impl Iterator<Item = &'a (Key, Node)> + Clone,
    specs: &[ParamSpec],
    whole: At,
) -> Result<Params, Flaw> {
    given(fields.clone(), specs)?
        .check(specs)
        .map_err(|error| Flaw::new(field_at(fields, &error.name, whole), error.to_string()))
}

/// The same without defaults; none need be given.
pub(super) fn given<'a>(
    fields: impl Iterator<Item = &'a (Key, Node)>,
    specs: &[ParamSpec],
) -> Result<Params, Flaw> {
    let mut given = Params::default();
    for (key, node) in fields {
        let Some(spec) = specs.iter().find(|spec| spec.name == key.name) else {
            return Err(grammar::unknown_key(key, specs.iter().map(|spec| spec.name)));
        };
        let mut converted = node.clone();
        grammar::convert(&mut converted, &spec.kind)
            .map_err(|flaw| Flaw::new(flaw.at, format!("`{}` {}", key.name, flaw.message)))?;
        if let Some(scalar) = converted.scalar() {
            given.0.insert(key.name.clone(), scalar.clone());
        }
    }
    Ok(given)
}

/// The place of the field called `name`, or `whole`.
pub(super) fn field_at<'a>(
    mut fields: impl Iterator<Item = &'a (Key, Node)>,
    name: &str,
    whole: At,
) -> At {
    fields.find(|(key, _)| key.name == name).map_or(whole, |(_, node)| node.at)
}

/// A name of the author's choice.
pub(super) fn check_name(key: &Key) -> Result<(), Flaw> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_./".contains(c);
    let name = &key.name;
    let good = name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(fits)
        && name != "users"
        && name != "all";
    if good {
        return Ok(());
    }
    let message = format!(
        "{name:?} is no name; expected a letter, then letters, digits and -_./, at most 40, all \
         lower case, neither users nor all"
    );
    Err(Flaw::new(key.at, message))
}
