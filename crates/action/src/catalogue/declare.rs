//! `declare`: states what the cause is and where it lies.

use crate::arguments::none;
use crate::error::ActionError;
use crate::near::suggestion;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, CauseClass, Claim, Duration, Effect};
use model::{EdgeId, ParamKind, ParamSpec, Params};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "declare",
    doc: "States the cause and where it lies: a component, or the edge between two. Costs no time.",
    class: ActionClass::Control,
    duration: Duration::Fixed(0),
    args: &[
        ParamSpec::text("component", ParamKind::Component, "", "The component where it lies."),
        ParamSpec::text("from", ParamKind::Component, "", "Or the caller of the edge, or users."),
        ParamSpec::text("to", ParamKind::Component, "", "And the callee of the edge."),
        ParamSpec::required(
            "cause",
            ParamKind::Choice(CauseClass::NAMES),
            "The coarse class of the cause; none: nothing is wrong.",
        ),
        ParamSpec::optional(
            "onset_minutes_ago",
            ParamKind::Number { min: 0.0, max: 240.0 },
            "When it began, minutes before now.",
        ),
        ParamSpec::text("evidence", ParamKind::Text, "", "What shows it."),
    ],
    effect,
    variants: none,
};

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    let component = site.component_if_given(args, "component")?;
    let edge = edge(args, site)?;
    let cause = CauseClass::find(args.text("cause")).unwrap_or(CauseClass::None);
    if cause == CauseClass::None {
        if component.is_some() || edge.is_some() {
            let message = "is none, so there is no component or edge to name";
            return Err(ActionError::field("cause", message));
        }
    } else if component.is_some() == edge.is_some() {
        return Err(ActionError::whole("names either `component`, or `from` and `to`"));
    }
    let onset_minutes_ago = args.has("onset_minutes_ago").then(|| args.number("onset_minutes_ago"));
    let evidence = args.text("evidence").to_string();
    Ok(Effect::Declare(Claim { component, edge, cause, onset_minutes_ago, evidence }))
}

fn edge(args: &Params, site: &Site<'_>) -> Result<Option<EdgeId>, ActionError> {
    let (from, to) = (args.text("from"), args.text("to"));
    if from.is_empty() && to.is_empty() {
        return Ok(None);
    }
    let callee = site.component(args, "to")?;
    if from != "users" {
        let caller = site.component(args, "from")?;
        return Ok(Some(site.edge(caller, callee, "to")?.id));
    }
    if let Some(edge) = site.topology.edge(from, to) {
        return Ok(Some(edge.id));
    }
    let entries = site.topology.edges.iter().filter(|edge| edge.from.is_none());
    let known: Vec<_> = entries.map(|edge| site.instance(edge.to).name.as_str()).collect();
    Err(ActionError::field("to", suggestion("entry of the users", to, &known)))
}
