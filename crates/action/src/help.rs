//! Help texts, derived from the catalogue.

use crate::catalogue;
use crate::spec::{ActionClass, ActionSpec, Duration};
use model::{ParamDefault, ParamSpec};
use std::fmt::Write;

/// Help on all actions, one line each, by class.
pub fn all() -> String {
    let mut text = String::new();
    for (class, title) in [
        (ActionClass::Read, "Reads"),
        (ActionClass::Mutate, "Mutations"),
        (ActionClass::Control, "Control"),
    ] {
        let _ = writeln!(text, "{title}:");
        for spec in catalogue::all().iter().filter(|spec| spec.class == class) {
            let _ = writeln!(text, "  {} — {}", usage(spec), spec.doc);
        }
    }
    text
}

/// Help on one action: what it does, how long it takes, its arguments.
pub fn one(spec: &ActionSpec) -> String {
    let mut text = format!("{}\n{}\n", usage(spec), spec.doc);
    let _ = match spec.duration {
        Duration::Fixed(0) => writeln!(text, "Takes no time."),
        Duration::Fixed(seconds) => writeln!(text, "Takes {seconds} s."),
        Duration::Asked => writeln!(text, "Takes as long as it says."),
    };
    for arg in spec.args {
        let _ = writeln!(text, "  {}: {} {}", arg.name, arg.doc, accepted(arg));
    }
    text
}

fn usage(spec: &ActionSpec) -> String {
    let args = spec.args.iter().map(|arg| match arg.default {
        None => arg.name.to_string(),
        Some(_) => format!("[{}]", arg.name),
    });
    format!("{}({})", spec.name, args.collect::<Vec<_>>().join(", "))
}

fn accepted(arg: &ParamSpec) -> String {
    let what = arg.kind.describe();
    match arg.default {
        None => format!("Required: {what}."),
        Some(ParamDefault::Flag(b)) => format!("Default {b}."),
        Some(ParamDefault::Number(n)) => format!("Default {n}; {what}."),
        Some(ParamDefault::Text("") | ParamDefault::Absent) => format!("Optional: {what}."),
        Some(ParamDefault::Text(text)) => format!("Default {text}; {what}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_action_and_every_argument() {
        let text = all();
        for spec in catalogue::all() {
            assert!(text.contains(&format!("  {}(", spec.name)), "{}", spec.name);
            let own = one(spec);
            assert!(spec.args.iter().all(|arg| own.contains(&format!("  {}: ", arg.name))));
        }
        assert!(text.contains("  restart(component, [group]) — Stops and starts"), "{text}");
    }
}
