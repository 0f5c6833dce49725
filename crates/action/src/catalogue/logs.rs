//! `logs`: log lines of one component.

use crate::arguments::{COMPONENT, MINUTES, none};
use crate::error::ActionError;
use crate::site::Site;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect, Reading};
use model::{ParamKind, ParamSpec, Params, Severity};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "logs",
    doc: "Shows log lines of a component, newest last.",
    class: ActionClass::Read,
    duration: Duration::READ,
    args: &[
        COMPONENT,
        MINUTES,
        ParamSpec::text(
            "severity",
            ParamKind::Choice(&["info", "warn", "error"]),
            "info",
            "Only lines at least this severe.",
        ),
        ParamSpec::text("contains", ParamKind::Text, "", "Only lines with this text; empty: all."),
        ParamSpec::number(
            "limit",
            ParamKind::Count { min: 1, max: 200 },
            50.0,
            "Most lines; the newest are kept.",
        ),
    ],
    effect,
    variants: none,
};

fn effect(args: &Params, site: &Site<'_>) -> Result<Effect, ActionError> {
    let severity = match args.text("severity") {
        "error" => Severity::Error,
        "warn" => Severity::Warn,
        _ => Severity::Info,
    };
    Ok(Effect::Read(Reading::Logs {
        of: site.component(args, "component")?,
        minutes: args.number("minutes") as u32,
        severity,
        contains: args.text("contains").to_string(),
        limit: args.number("limit") as u32,
    }))
}
