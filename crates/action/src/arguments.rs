//! Arguments that several actions share, and how they become orders and variants.

use crate::error::ActionError;
use crate::site::Site;
use crate::spec::Effect;
use model::{InstanceSpec, ParamKind, ParamSpec, ParamValue, Params};

/// The component acted on.
pub(crate) const COMPONENT: ParamSpec =
    ParamSpec::required("component", ParamKind::Component, "The component.");
/// A replica group of it.
pub(crate) const GROUP: ParamSpec =
    ParamSpec::text("group", ParamKind::Text, "", "Only this replica group; empty: all of them.");
/// The host acted on.
pub(crate) const HOST: ParamSpec = ParamSpec::required("host", ParamKind::Component, "The host.");
/// A partition of a queue.
pub(crate) const PARTITION: ParamSpec = ParamSpec::required(
    "partition",
    ParamKind::Count { min: 0, max: 63 },
    "The number of the partition, from 0, as status and logs show it.",
);
/// How far back a read looks.
pub(crate) const MINUTES: ParamSpec = ParamSpec::number(
    "minutes",
    ParamKind::Count { min: 1, max: 60 },
    5.0,
    "How far back, minutes.",
);

/// Shares that variants try.
pub(crate) const RATIOS: [f64; 3] = [0.2, 0.5, 0.8];

/// One order `verb` to the component or host that `field` names, with those of `names` that are
/// given and not empty.
pub(crate) fn one_order(
    site: &Site<'_>,
    args: &Params,
    field: &str,
    verb: &str,
    names: &[&str],
) -> Result<Effect, ActionError> {
    let target = site.component(args, field)?;
    let given = |name: &&&str| match args.0.get(**name) {
        Some(ParamValue::Text(text)) => !text.is_empty(),
        other => other.is_some(),
    };
    let passed = names
        .iter()
        .filter(given)
        .fold(Params::default(), |passed, name| passed.with(name, args.0[*name].clone()));
    Ok(Effect::Orders(vec![site.order(target, verb, passed)?]))
}

/// At least one of the optional `settings` is given.
pub(crate) fn sets_something(args: &Params, settings: &[&str]) -> Result<(), ActionError> {
    if settings.iter().any(|name| args.has(name)) {
        return Ok(());
    }
    let message = format!("sets nothing; give at least one of {}", settings.join(", "));
    Err(ActionError::whole(message))
}

/// Components whose kind has the operation `verb`.
pub(crate) fn able<'a>(
    site: &Site<'a>,
    verb: &'static str,
) -> impl Iterator<Item = &'a InstanceSpec> + use<'a> {
    let site = *site;
    site.topology.ids().filter(move |id| site.can(*id, verb)).map(move |id| site.instance(id))
}

/// One set of arguments per such component, which it names in `field`.
pub(crate) fn each_able(site: &Site<'_>, field: &str, verb: &'static str) -> Vec<Params> {
    able(site, verb).map(|spec| Params::default().with(field, spec.name.as_str())).collect()
}

/// No variants: reads and control.
pub(crate) fn none(_: &Site<'_>) -> Vec<Params> {
    Vec::new()
}
