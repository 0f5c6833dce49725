//! What a fault is, and how it becomes lever pulls.

use crate::aim::{Aim, Target};
use model::{LeverPull, ParamKind, ParamSpec, Params, Topology};

/// One fault of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct FaultSpec {
    /// Its name, a noun phrase in snake case. Never shown to an agent.
    pub name: &'static str,
    /// The operator's paragraph: what breaks, how it looks, what ends it.
    pub doc: &'static str,
    /// What it can hit.
    pub targets: Targets,
    /// Its parameters.
    pub params: &'static [ParamSpec],
    /// The levers it pulls, given checked and complete parameters.
    pub levers: fn(&mut Aim<'_>),
    /// What is seen, one sentence each.
    pub symptoms: &'static [&'static str],
    /// The fault that looks most like it.
    pub twin: Option<&'static str>,
}

/// What a fault can hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// A component of one of these kinds.
    Kinds(&'static [&'static str]),
    /// The edge between two components, or between the users and their entry.
    Edges,
}

/// Kinds that serve requests.
pub const SERVERS: &[&str] =
    &["app", "auth", "cache", "db", "dns", "frontend", "gateway", "payment", "queue"];

impl Targets {
    /// What it can hit, for errors and help.
    pub fn describe(&self) -> String {
        match self {
            Targets::Kinds(kinds) => format!("a component of kind {}", kinds.join(", ")),
            Targets::Edges => "an edge, written `caller -> callee`".into(),
        }
    }
}

/// A fault that does not fit the catalogue or the topology.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {message}")]
pub struct FaultError {
    /// The parameter, or `on` for the target.
    pub field: String,
    /// One sentence with what is allowed.
    pub message: String,
}

impl FaultError {
    fn of(field: &str, message: impl Into<String>) -> FaultError {
        FaultError { field: field.into(), message: message.into() }
    }
}

impl FaultSpec {
    /// The lever pulls of this fault on `target`; their ids count from `first_id`.
    ///
    /// # Errors
    /// Names the target or parameter that does not fit, and what is allowed.
    pub fn pulls(
        &self,
        target: Target,
        params: &Params,
        topology: &Topology,
        first_id: u64,
    ) -> Result<Vec<LeverPull>, FaultError> {
        self.check_target(target, topology)?;
        let checked = params
            .check(self.params)
            .map_err(|error| FaultError::of(&error.name, error.message))?;
        let mut aim = Aim::new(topology, target, checked, first_id);
        for spec in self.params {
            check_name(spec, &aim)?;
        }
        (self.levers)(&mut aim);
        Ok(aim.into_pulls())
    }

    fn check_target(&self, target: Target, topology: &Topology) -> Result<(), FaultError> {
        let refuse = |what: String| {
            let name = self.name;
            let message = format!("{name} hits {}, not {what}", self.targets.describe());
            Err(FaultError::of("on", message))
        };
        match (self.targets, target) {
            (Targets::Edges, Target::Edge(_)) => Ok(()),
            (Targets::Edges, Target::Component(_)) => refuse("a component".into()),
            (Targets::Kinds(_), Target::Edge(_)) => refuse("an edge".into()),
            (Targets::Kinds(kinds), Target::Component(id)) => {
                let spec = &topology.instances[id.at()];
                if kinds.contains(&spec.kind.as_str()) {
                    return Ok(());
                }
                refuse(format!("{} of kind {}", spec.name, spec.kind))
            }
        }
    }
}

/// Classes, groups and records are names of the topology.
fn check_name(spec: &ParamSpec, aim: &Aim<'_>) -> Result<(), FaultError> {
    let name = aim.args().text(spec.name);
    if name.is_empty() {
        return Ok(());
    }
    let (noun, known) = match spec.kind {
        ParamKind::Class => ("class or route", aim.classes()),
        _ if spec.name == "group" => ("group", aim.groups()),
        _ if spec.name == "record" => ("record", aim.records()),
        _ => return Ok(()),
    };
    if known.contains(&name) {
        return Ok(());
    }
    let message = format!("unknown {noun} `{name}`; expected one of {}", known.join(", "));
    Err(FaultError::of(spec.name, message))
}
