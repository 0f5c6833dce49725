//! What the control port is to break, as it was asked for, to lever pulls that fit: checked whole
//! against the catalogue of faults, the levers of the kinds and the topology, before anything
//! happens.

use crate::sessions::SessionError;
use action::near::suggestion;
use episode::{ControlOrder, External};
use fault::Target;
use machine::Kind;
use model::{EdgeId, LeverPull, Params, Topology};
use record::{Actor, Record};
use scenario::resolved::PULL_IDS_END;

/// What is to break.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// A fault of the catalogue.
    Fault(String),
    /// One lever.
    Lever(String),
}

fn wrong(sentence: impl ToString) -> SessionError {
    SessionError::Wrong(sentence.to_string())
}

/// The component or edge that a text names.
pub(crate) fn target(topology: &Topology, text: &str) -> Result<Target, SessionError> {
    let component = |name: &str| {
        topology.instance(name).ok_or_else(|| {
            let known: Vec<_> = topology.instances.iter().map(|i| i.name.as_str()).collect();
            wrong(suggestion("component", name, &known))
        })
    };
    let Some((from, to)) = text.split_once("->").map(|(from, to)| (from.trim(), to.trim())) else {
        return component(text.trim()).map(Target::Component);
    };
    if from != "users" {
        component(from)?;
    }
    component(to)?;
    topology.edge(from, to).map(|edge| Target::Edge(edge.id)).ok_or_else(|| {
        let known: Vec<_> =
            topology.edges.iter().map(|edge| edge_name(topology, edge.id)).collect();
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        wrong(suggestion("edge", &format!("{from} -> {to}"), &known))
    })
}

/// An edge as `caller -> callee`.
pub(crate) fn edge_name(topology: &Topology, id: EdgeId) -> String {
    let edge = &topology.edges[id.at()];
    let from = edge.from.map_or("users", |from| topology.instances[from.at()].name.as_str());
    format!("{from} -> {}", topology.instances[edge.to.at()].name)
}

/// The pulls that break it; `first_id`: the number of the first.
pub(crate) fn pulls(
    what: &What,
    target: Target,
    params: &Params,
    topology: &Topology,
    first_id: u64,
) -> Result<Vec<LeverPull>, SessionError> {
    match what {
        What::Fault(name) => {
            let Some(spec) = fault::find(name) else {
                let known: Vec<_> = fault::all().iter().map(|fault| fault.name).collect();
                return Err(wrong(suggestion("fault", name, &known)));
            };
            spec.pulls(target, params, topology, first_id).map_err(wrong)
        }
        What::Lever(name) => lever(name, target, params, topology, first_id).map(|pull| vec![pull]),
    }
}

/// One lever: of a component, or of the caller of an edge. Users have the levers of an edge at
/// their own.
fn lever(
    name: &str,
    target: Target,
    params: &Params,
    topology: &Topology,
    id: u64,
) -> Result<LeverPull, SessionError> {
    let (at, edge) = match target {
        Target::Component(at) => (at, None),
        Target::Edge(edge) => {
            let spec = &topology.edges[edge.at()];
            (spec.from.unwrap_or(spec.to), Some(edge))
        }
    };
    let spec = &topology.instances[at.at()];
    let kind: &dyn Kind = fleet::kind(&spec.kind)
        .ok_or_else(|| wrong(format!("this build has no kind `{}`", spec.kind)))?;
    let users = edge.is_some_and(|edge| topology.edges[edge.at()].from.is_none());
    let fits = |lever: &str| match (edge, users) {
        (None, _) => !lever.starts_with("edge."),
        (Some(_), false) => lever.starts_with("edge."),
        // Users have no breaker and no pool.
        (Some(_), true) => {
            ["edge.abort", "edge.latency", "edge.loss", "edge.partition"].contains(&lever)
        }
    };
    let levers: Vec<_> = kind.levers().iter().filter(|lever| fits(lever.name)).collect();
    let Some(lever) = levers.iter().find(|lever| lever.name == name) else {
        let known: Vec<_> = levers.iter().map(|lever| lever.name).collect();
        let noun = match edge {
            Some(_) => "lever of an edge".to_string(),
            None => format!("lever of kind {}", kind.name()),
        };
        return Err(wrong(suggestion(&noun, name, &known)));
    };
    let args = params.check(lever.args).map_err(wrong)?;
    Ok(LeverPull { id, target: at, edge, lever: name.into(), args })
}

/// What the control port has pulled in a record and not let go of, oldest first, and the number
/// for the next one.
pub(crate) fn injected(record: &Record) -> (Vec<LeverPull>, u64) {
    let (mut held, mut next): (Vec<LeverPull>, _) = (Vec::new(), PULL_IDS_END);
    for input in record.inputs().filter(|input| input.actor == Actor::Control) {
        match External::of(input) {
            Ok(External::Control(ControlOrder::Inject(pulls))) => {
                next = pulls.iter().map(|pull| pull.id + 1).fold(next, u64::max);
                held.extend(pulls);
            }
            Ok(External::Control(ControlOrder::Clear { id, .. })) => held.retain(|p| p.id != id),
            _ => {}
        }
    }
    (held, next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shelf::tests::laboratory;
    use model::{ParamKind, ParamSpec, ParamValue};

    /// A value that a required parameter takes.
    fn sample(spec: &ParamSpec) -> ParamValue {
        match spec.kind {
            ParamKind::Flag => true.into(),
            ParamKind::Ratio => 0.5.into(),
            ParamKind::Duration { min, .. }
            | ParamKind::Bytes { min, .. }
            | ParamKind::Number { min, .. } => (min + 1.0).into(),
            ParamKind::Count { min, .. } => f64::from(min).into(),
            ParamKind::Choice(words) => words[0].into(),
            _ => "web".into(),
        }
    }

    #[test]
    fn every_lever_is_pulled_with_no_more_than_its_required_arguments() {
        let mut levers = 0;
        for kind in fleet::kinds() {
            for lever in kind.levers() {
                let required = lever.args.iter().filter(|arg| arg.default.is_none());
                let given = required
                    .fold(Params::default(), |given, arg| given.with(arg.name, sample(arg)));
                let name = lever.name;
                let once = given.check(lever.args).unwrap_or_else(|e| panic!("{name}: {e}"));
                // The port checks, and so does the component that is reached.
                assert_eq!(once.check(lever.args), Ok(once), "{name}");
                levers += 1;
            }
        }
        assert!(levers > 100, "{levers}");
    }

    #[test]
    fn what_does_not_fit_is_named_with_what_does() {
        let scenario = laboratory().load("lab/broken-release").unwrap();
        let topology = &scenario.topology;
        let none = Params::default();
        let slow = Params::default().with("factor", 8.0);
        let fault = |name: &str| What::Fault(name.into());
        let lever = |name: &str| What::Lever(name.into());
        for (what, on, params, says) in [
            (fault("slow_dependancy"), "web", &none, "did you mean `slow_dependency`?"),
            (fault("slow_dependency"), "wed", &slow, "did you mean `web`?"),
            (fault("slow_dependency"), "web", &none, "`factor`"),
            (fault("packet_loss"), "web", &none, "`caller -> callee`"),
            (fault("packet_loss"), "gateway -> wab", &none, "did you mean `web`?"),
            (fault("packet_loss"), "web -> gateway", &none, "expected one of users -> gateway"),
            (lever("server.slw"), "web", &slow, "did you mean `server.slow`?"),
            (lever("server.slow"), "gateway -> web", &slow, "unknown lever of an edge"),
            (lever("edge.latency"), "web", &slow, "unknown lever of kind app"),
            (lever("server.slow"), "web", &none, "`factor`"),
        ] {
            let found = target(topology, on).and_then(|on| pulls(&what, on, params, topology, 7));
            let said = found.expect_err("it does not fit").to_string();
            assert!(said.contains(says), "{what:?} on {on}: {said}");
        }
        let web = target(topology, "web").unwrap();
        let pulled = pulls(&lever("server.slow"), web, &slow, topology, 7).unwrap();
        assert_eq!((pulled.len(), pulled[0].id, &*pulled[0].lever), (1, 7, "server.slow"));
    }
}
