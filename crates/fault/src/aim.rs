//! One fault aimed at one target: collects the lever pulls.

use model::{EdgeId, InstanceId, LeverPull, ParamValue, Params, Topology};

/// What a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A component.
    Component(InstanceId),
    /// An edge.
    Edge(EdgeId),
}

/// A fault's target and parameters, and the pulls so far.
#[derive(Debug)]
pub struct Aim<'a> {
    topology: &'a Topology,
    target: Target,
    args: Params,
    next_id: u64,
    pulls: Vec<LeverPull>,
}

impl<'a> Aim<'a> {
    pub(crate) fn new(
        topology: &'a Topology,
        target: Target,
        args: Params,
        next_id: u64,
    ) -> Aim<'a> {
        Aim { topology, target, args, next_id, pulls: Vec::new() }
    }

    /// The checked and complete parameters.
    pub fn args(&self) -> &Params {
        &self.args
    }

    /// Pulls `lever` at the target with those parameters of `names` that are given. The levers of
    /// an edge are its caller's; those of a users' edge are its callee's.
    pub fn pull(&mut self, lever: &str, names: &[&str]) {
        let (at, edge) = match self.target {
            Target::Component(id) => (id, None),
            Target::Edge(id) => {
                let edge = &self.topology.edges[id.at()];
                (edge.from.unwrap_or(edge.to), Some(id))
            }
        };
        let args = self.passed(names);
        self.push(at, edge, lever, args);
    }

    /// Pulls `lever` of the hosts of the target's processes, once per replica group (only
    /// `group`, where that parameter is given), with `instance`, `group` and `names`.
    pub fn pull_at_hosts(&mut self, lever: &str, names: &[&str]) {
        let Target::Component(id) = self.target else { return };
        let spec = &self.topology.instances[id.at()];
        let wanted = self.args.text("group").to_string();
        for group in spec.groups.iter().filter(|g| wanted.is_empty() || g.name == wanted) {
            let args = self.passed(names);
            let args = args.with("instance", &*spec.name).with("group", &*group.name);
            self.push(group.host, None, lever, args);
        }
    }

    /// The kind of the component it hits; that of the caller, where it hits an edge.
    pub fn kind(&self) -> &'a str {
        let at = match self.target {
            Target::Component(id) => id,
            Target::Edge(id) => {
                let edge = &self.topology.edges[id.at()];
                edge.from.unwrap_or(edge.to)
            }
        };
        &self.topology.instances[at.at()].kind
    }

    /// Names of the classes and routes.
    pub(crate) fn classes(&self) -> Vec<&'a str> {
        let mut known: Vec<&str> = Vec::new();
        for class in &self.topology.classes {
            for word in [class.name.as_str(), class.route.as_str()] {
                if !known.contains(&word) {
                    known.push(word);
                }
            }
        }
        known
    }

    /// Names of the target's replica groups.
    pub(crate) fn groups(&self) -> Vec<&'a str> {
        match self.target {
            Target::Component(id) => {
                self.topology.instances[id.at()].groups.iter().map(|g| g.name.as_str()).collect()
            }
            Target::Edge(_) => Vec::new(),
        }
    }

    /// Names that the target answers for.
    pub(crate) fn records(&self) -> Vec<&'a str> {
        match self.target {
            Target::Component(id) => self.topology.names_of(id).map(|n| n.name.as_str()).collect(),
            Target::Edge(_) => Vec::new(),
        }
    }

    pub(crate) fn into_pulls(self) -> Vec<LeverPull> {
        self.pulls
    }

    fn passed(&self, names: &[&str]) -> Params {
        let given = |name: &&&str| match self.args.0.get(**name) {
            Some(ParamValue::Text(text)) => !text.is_empty(),
            Some(_) => true,
            None => false,
        };
        names
            .iter()
            .filter(given)
            .fold(Params::default(), |passed, name| passed.with(name, self.args.0[*name].clone()))
    }

    fn push(&mut self, target: InstanceId, edge: Option<EdgeId>, lever: &str, args: Params) {
        let id = self.next_id;
        self.next_id += 1;
        self.pulls.push(LeverPull { id, target, edge, lever: lever.into(), args });
    }
}
