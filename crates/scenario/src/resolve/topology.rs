//! A topology: hosts first, then components, then edges with the users' in front.

use super::{edges, lookup, names};
use crate::format::COMPONENT;
use crate::grammar::missing_field;
use crate::raw::{At, Flaw, Key, Node};
use action::near::suggestion;
use machine::{Kind, Kinds};
use model::{
    CLASSES_MAX, COLUMNS_MAX, ClassSpec, EdgeId, GROUPS_MAX, GroupSpec, InstanceId, InstanceSpec,
    Noise, Params, Topology,
};

/// The kind of hosts.
const HOST: &str = "host";
/// Name of the host of a topology without hosts.
const ONLY_HOST: &str = "host-1";

/// Resolves a checked topology.
pub(crate) fn topology(name: &str, node: &Node, kinds: &dyn Kinds) -> Result<Topology, Flaw> {
    let mut topology = Topology { name: name.into(), ..Topology::default() };
    let hosts = hosts(node, kinds, &mut topology)?;
    for (key, component) in node.map("components") {
        if topology.instance(&key.name).is_some() {
            let message = format!("{} is the name of a host already", key.name);
            return Err(Flaw::new(key.at, message));
        }
        let spec = instance(key, component, &topology.instances[..hosts], kinds)?;
        topology.instances.push(spec);
    }
    if topology.instances.len() == hosts {
        return Err(Flaw::new(node.at("components"), "there is no component"));
    }
    classes(node, &mut topology)?;
    topology.edges = edges::edges(node, &topology, kinds)?;
    enter(node, &mut topology)?;
    topology.names = names::names(node, &topology, kinds)?;
    create_each(node, &topology, kinds)?;
    Ok(topology)
}

fn hosts(node: &Node, kinds: &dyn Kinds, topology: &mut Topology) -> Result<usize, Flaw> {
    let kind =
        kinds.find(HOST).ok_or_else(|| Flaw::new(node.at, "this fleet has no kind `host`"))?;
    let host = |name: &str, params: Params| InstanceSpec {
        name: name.into(),
        kind: HOST.into(),
        params,
        groups: Vec::new(),
    };
    for (key, fields) in node.map("hosts") {
        lookup::check_name(key)?;
        let params = lookup::params(fields.fields().iter(), kind.params(), fields.at)?;
        topology.instances.push(host(&key.name, params));
    }
    if topology.instances.is_empty() {
        let params = lookup::params([].iter(), kind.params(), node.at)?;
        topology.instances.push(host(ONLY_HOST, params));
    }
    Ok(topology.instances.len())
}

fn instance(
    key: &Key,
    node: &Node,
    hosts: &[InstanceSpec],
    kinds: &dyn Kinds,
) -> Result<InstanceSpec, Flaw> {
    lookup::check_name(key)?;
    let kind = kind_of(node, kinds)?;
    let is_param = |key: &Key| COMPONENT.iter().all(|field| field.name != key.name);
    let own = node.fields().iter().filter(|(key, _)| is_param(key));
    if let Some((key, _)) =
        own.clone().find(|(key, _)| kind.params().iter().all(|spec| spec.name != key.name))
    {
        let fields = COMPONENT.iter().map(|field| field.name);
        let known: Vec<_> = fields.chain(kind.params().iter().map(|spec| spec.name)).collect();
        let noun = format!("key of kind {}", kind.name());
        return Err(Flaw::new(key.at, suggestion(&noun, &key.name, &known)));
    }
    let params = lookup::params(own, kind.params(), node.at)?;
    let groups = if kind.outside() { none(kind, node)? } else { groups(node, hosts)? };
    Ok(InstanceSpec { name: key.name.clone(), kind: kind.name().into(), params, groups })
}

fn kind_of(node: &Node, kinds: &dyn Kinds) -> Result<&'static dyn Kind, Flaw> {
    let name = node.text("kind");
    let kind = kinds.find(name).filter(|kind| kind.name() != HOST);
    kind.ok_or_else(|| {
        let names = kinds.all().iter().map(|kind| kind.name());
        let known: Vec<_> = names.filter(|name| *name != HOST).collect();
        let hint = if name == HOST { "; hosts stand under `hosts`" } else { "" };
        Flaw::new(node.at("kind"), suggestion("kind", name, &known) + hint)
    })
}

/// A third party has no replica groups here.
fn none(kind: &dyn Kind, node: &Node) -> Result<Vec<GroupSpec>, Flaw> {
    let mut ours = COMPONENT.iter().map(|field| field.name).filter(|name| *name != "kind");
    match ours.find_map(|name| Some((name, node.get(name)?))) {
        None => Ok(Vec::new()),
        Some((name, field)) => {
            let kind = kind.name();
            let message = format!("kind {kind} is run by a third party and takes no `{name}`");
            Err(Flaw::new(field.at, message))
        }
    }
}

fn groups(node: &Node, hosts: &[InstanceSpec]) -> Result<Vec<GroupSpec>, Flaw> {
    let whole_host = host(node, hosts)?;
    let version = word_or(node, "version", "v1");
    if node.get("groups").is_none() {
        let replicas = node.number("replicas", 1.0) as u32;
        let host = whole_host.unwrap_or_default();
        return Ok(vec![GroupSpec { name: "stable".into(), version, host, replicas }]);
    }
    if let Some(replicas) = node.get("replicas") {
        return Err(Flaw::new(replicas.at, "`replicas` stands in each of the groups"));
    }
    let items = node.list("groups");
    if items.is_empty() || items.len() > GROUPS_MAX {
        let message = format!("has {} groups; expected 1 to {GROUPS_MAX}", items.len());
        return Err(Flaw::new(node.at("groups"), message));
    }
    let mut groups: Vec<GroupSpec> = Vec::new();
    for item in items {
        let name = item.text("name").to_string();
        if groups.iter().any(|group| group.name == name) {
            return Err(Flaw::new(item.at("name"), format!("there are two groups `{name}`")));
        }
        groups.push(GroupSpec {
            name,
            version: word_or(item, "version", &version),
            host: host(item, hosts)?.or(whole_host).unwrap_or_default(),
            replicas: item.number("replicas", 1.0) as u32,
        });
    }
    Ok(groups)
}

fn host(node: &Node, hosts: &[InstanceSpec]) -> Result<Option<InstanceId>, Flaw> {
    let Some(named) = node.get("host") else { return Ok(None) };
    match hosts.iter().position(|host| host.name == named.word()) {
        Some(at) => Ok(Some(InstanceId(at as u16))),
        None => {
            let known: Vec<_> = hosts.iter().map(|host| host.name.as_str()).collect();
            Err(Flaw::new(named.at, suggestion("host", named.word(), &known)))
        }
    }
}

fn classes(node: &Node, topology: &mut Topology) -> Result<(), Flaw> {
    let written = node.map("classes");
    if written.is_empty() || written.len() > CLASSES_MAX {
        let message = format!("there are {} classes; expected 1 to {CLASSES_MAX}", written.len());
        let at = written.get(CLASSES_MAX).map_or(node.at("classes"), |(key, _)| key.at);
        return Err(Flaw::new(at, message));
    }
    for (key, class) in written {
        lookup::check_name(key)?;
        let (route, cohort) = key.name.split_once('/').unwrap_or((&key.name, "all"));
        topology.classes.push(ClassSpec {
            name: key.name.clone(),
            route: word_or(class, "route", route),
            cohort: word_or(class, "cohort", cohort),
            weight: class.number("weight", 1.0),
            objective_s: class.number("objective", 1.0),
            patience_s: class.number("patience", 1.0),
            retries: class.number("retries", 0.0) as u32,
            backoff_s: class.number("backoff", 0.0),
            entry: EdgeId(0),
            writes: class.flag("writes", false),
        });
    }
    Ok(())
}

/// Finds the entry of each class, and lets only its requests in there.
fn enter(node: &Node, topology: &mut Topology) -> Result<(), Flaw> {
    let entries: Vec<_> = topology.edges.iter().filter(|e| e.from.is_none()).cloned().collect();
    let names: Vec<_> =
        entries.iter().map(|edge| topology.instances[edge.to.at()].name.clone()).collect();
    for (at, (key, class)) in node.map("classes").iter().enumerate() {
        let known: Vec<_> = names.iter().map(String::as_str).collect();
        let entry = match class.get("entry") {
            Some(named) => names
                .iter()
                .position(|name| name == named.word())
                .ok_or_else(|| Flaw::new(named.at, suggestion("entry", named.word(), &known)))?,
            None if entries.len() == 1 => 0,
            None => {
                let expected = format!("one of {}", known.join(", "));
                return Err(missing_field(class.at, "entry", &expected)).map_err(|flaw| {
                    Flaw::new(flaw.at, format!("class {}: {}", key.name, flaw.message))
                });
            }
        };
        topology.classes[at].entry = entries[entry].id;
        for edge in topology.edges.iter_mut().filter(|edge| edge.from.is_none()) {
            edge.calls[at] = if edge.id == entries[entry].id { 1.0 } else { 0.0 };
        }
    }
    Ok(())
}

/// Lets every kind see its setup: it may refuse what single parameters do not show.
fn create_each(node: &Node, topology: &Topology, kinds: &dyn Kinds) -> Result<(), Flaw> {
    for id in topology.ids() {
        let spec = &topology.instances[id.at()];
        let section = if spec.kind == HOST { "hosts" } else { "components" };
        let written = node.map(section).iter().find(|(key, _)| key.name == spec.name);
        let whole: At = written.map_or(node.at, |(key, _)| key.at);
        let Some(kind) = kinds.find(&spec.kind) else { continue };
        let setup = topology.setup(id, Noise::root(0));
        kind.create(&setup).map_err(|error| {
            let at = written.map_or(whole, |(_, node)| match node.get(&error.name) {
                Some(field) => field.at,
                None => whole,
            });
            Flaw::new(at, format!("{}: {error}", spec.name))
        })?;
        let columns = kind.columns(&setup).len();
        if columns > COLUMNS_MAX {
            let message = format!(
                "{} needs {columns} history columns of at most {COLUMNS_MAX}: it has too many \
                 edges",
                spec.name
            );
            return Err(Flaw::new(whole, message));
        }
    }
    Ok(())
}

fn word_or(node: &Node, name: &str, default: &str) -> String {
    let word = node.text(name);
    if word.is_empty() { default.into() } else { word.into() }
}
