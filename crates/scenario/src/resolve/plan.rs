//! Plans of actions, and the truth they are measured against.

use super::lookup::{self, Place, place};
use super::watch::Watch;
use crate::grammar::missing_field;
use crate::raw::{Flaw, Node};
use crate::resolved::{CANARY, Cause, Evidence, Truth, WrongLabel, WrongPlan};
use action::near::suggestion;
use action::{Action, ActionError, CauseClass, Site};
use model::{ParamValue, Params, Tick};

/// The truth of a checked scenario.
pub(super) fn truth(node: &Node, watch: &Watch<'_>) -> Result<Truth, Flaw> {
    let site = Site::new(watch.topology, watch.kinds);
    let causes = node.list("causes").iter().map(|cause| {
        let (component, edge) = match place(watch.topology, cause.get("on").unwrap_or(cause))? {
            Place::Component(id) => (Some(id), None),
            Place::Edge(id) => (None, Some(id)),
        };
        let class = CauseClass::find(cause.text("class")).unwrap_or(CauseClass::None);
        Ok(Cause { component, edge, class, onset: Tick(cause.number("onset", 0.0) as i64) })
    });
    let evidence = node.list("evidence").iter().map(|item| evidence(item, watch));
    let wrong = node.list("wrong").iter().map(|wrong| {
        Ok(WrongPlan {
            label: match wrong.text("label") {
                "harmful" => WrongLabel::Harmful,
                "useless" => WrongLabel::Useless,
                _ => WrongLabel::Palliative,
            },
            plan: plan(wrong.list("plan"), &site)?,
            why: wrong.text("why").into(),
        })
    });
    Ok(Truth {
        canary: CANARY.into(),
        causes: causes.collect::<Result<_, Flaw>>()?,
        evidence: evidence.collect::<Result<_, Flaw>>()?,
        reference: plan(node.list("reference"), &site)?,
        wrong: wrong.collect::<Result<_, Flaw>>()?,
    })
}

fn evidence(node: &Node, watch: &Watch<'_>) -> Result<Evidence, Flaw> {
    let component = lookup::instance(watch.topology, node.text("on"), node.at("on"))?;
    let word = |name: &str| node.get(name).map(|node| node.word().to_string());
    if let Some(signal) = node.get("signal") {
        let known: Vec<_> = watch.signals(component).iter().map(|(name, _)| *name).collect();
        if !known.contains(&signal.word()) {
            return Err(Flaw::new(signal.at, suggestion("signal", signal.word(), &known)));
        }
    }
    let shows = node.text("shows").to_string();
    Ok(Evidence { component, signal: word("signal"), log: word("log"), shows })
}

/// A list of actions that are possible here.
fn plan(nodes: &[Node], site: &Site<'_>) -> Result<Vec<Action>, Flaw> {
    nodes.iter().map(|node| action(node, site)).collect()
}

fn action(node: &Node, site: &Site<'_>) -> Result<Action, Flaw> {
    let mut args = Params::default();
    for (key, value) in node.fields().iter().filter(|(key, _)| key.name != "action") {
        let Some(scalar) = value.scalar() else {
            let message = format!("`{}` is {}; expected a scalar", key.name, value.describe());
            return Err(Flaw::new(value.at, message));
        };
        args.0.insert(key.name.clone(), scalar.clone());
    }
    let name = match node.get("action").and_then(Node::scalar) {
        Some(ParamValue::Text(name)) => name.as_str(),
        _ => {
            let names: Vec<_> = action::all().iter().map(|spec| spec.name).collect();
            let at = node.at("action");
            return Err(missing_field(at, "action", &format!("one of {}", names.join(", "))));
        }
    };
    let flaw = |error: ActionError| flaw(node, error);
    let action = Action::new(name, &args).map_err(flaw)?;
    action.effect(site).map_err(flaw)?;
    Ok(action)
}

/// At the field that the error names: at its key where it is unknown, at its value otherwise.
fn flaw(node: &Node, error: ActionError) -> Flaw {
    let field = node.fields().iter().find(|(key, _)| key.name == error.field);
    let at = match field {
        Some((key, _)) if error.message.starts_with("unknown parameter") => key.at,
        Some((_, value)) => value.at,
        None => node.at,
    };
    Flaw::new(at, error.to_string())
}
