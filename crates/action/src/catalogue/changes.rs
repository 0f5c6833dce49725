//! `changes`: what was changed lately, everywhere.

use crate::arguments::{MINUTES, none};
use crate::spec::{ActionClass, ActionSpec, Duration, Effect, Reading};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "changes",
    doc: "Lists deploys, settings, restarts and policy changes of all components, oldest first.",
    class: ActionClass::Read,
    duration: Duration::READ,
    args: &[MINUTES],
    effect: |args, _| Ok(Effect::Read(Reading::Changes { minutes: args.number("minutes") as u32 })),
    variants: none,
};
