//! `traces`: sampled requests with their spans.

use crate::arguments::{MINUTES, none};
use crate::error::ActionError;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect, Reading};
use model::{ParamKind, ParamSpec, Params};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "traces",
    doc: "Shows sampled requests and their spans across components, newest last.",
    class: ActionClass::Read,
    duration: Duration::READ,
    args: &[
        ParamSpec::text("route", ParamKind::Class, "", "Only this class or route; empty: all."),
        MINUTES,
        ParamSpec::number("limit", ParamKind::Count { min: 1, max: 20 }, 5.0, "Most traces."),
        ParamSpec::flag("only_failed", false, "Only requests that failed."),
    ],
    effect,
    variants: none,
};

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    Ok(Effect::Read(Reading::Traces {
        route: site.class(args, "route")?.to_string(),
        minutes: args.number("minutes") as u32,
        limit: args.number("limit") as u32,
        only_failed: args.flag("only_failed"),
    }))
}
