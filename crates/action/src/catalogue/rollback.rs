//! `rollback`: returns a component to the version before its last deploy.

use crate::arguments::{COMPONENT, each_able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "rollback",
    doc: "Returns a component to the version before its last deploy, replica by replica.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[COMPONENT],
    effect: |args, site| one_order(site, args, "component", "rollback", &[]),
    variants: |site| each_able(site, "component", "rollback"),
};
