//! `config`: the present configuration of one component.

use crate::arguments::{COMPONENT, none};
use crate::spec::{ActionClass, ActionSpec, Duration, Effect, Reading};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "config",
    doc: "Shows the present configuration of a component: versions, limits, policies.",
    class: ActionClass::Read,
    duration: Duration::READ,
    args: &[COMPONENT],
    effect: |args, site| {
        Ok(Effect::Read(Reading::Config { of: site.component(args, "component")? }))
    },
    variants: none,
};
