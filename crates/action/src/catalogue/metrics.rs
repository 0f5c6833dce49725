//! `metrics`: series of one component.

use crate::arguments::{COMPONENT, MINUTES, none};
use crate::error::ActionError;
use crate::near::suggestion;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect, Reading};
use model::{InstanceId, ParamKind, ParamSpec, Params};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "metrics",
    doc: "Shows series of a component, at most 60 points each.",
    class: ActionClass::Read,
    duration: Duration::READ,
    args: &[
        COMPONENT,
        ParamSpec::text(
            "signals",
            ParamKind::Text,
            "",
            "Names of signals, separated by commas; empty: all of them.",
        ),
        MINUTES,
    ],
    effect,
    variants: none,
};

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    let of = site.component(args, "component")?;
    let signals = signals(args, site, of)?;
    Ok(Effect::Read(Reading::Metrics { of, signals, minutes: args.number("minutes") as u32 }))
}

fn signals(args: &Params, site: &Site<'_>, of: InstanceId) -> Result<Vec<String>, ActionError> {
    let kind = site.kinds.find(&site.instance(of).kind);
    let known: Vec<_> =
        kind.map_or(&[][..], |kind| kind.signals()).iter().map(|s| s.name).collect();
    let words = args.text("signals").split(',').map(str::trim).filter(|word| !word.is_empty());
    words
        .map(|word| match known.contains(&word) {
            true => Ok(word.to_string()),
            false => Err(ActionError::field("signals", suggestion("signal", word, &known))),
        })
        .collect()
}
