//! `purge`: deletes all messages that wait in a queue.

use crate::arguments::{COMPONENT, each_able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "purge",
    doc: "Deletes all messages that wait in a queue, for good; what they promised is never done.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[COMPONENT],
    effect: |args, site| one_order(site, args, "component", "purge", &[]),
    variants: |site| each_able(site, "component", "purge"),
};
