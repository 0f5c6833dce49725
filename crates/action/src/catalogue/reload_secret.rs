//! `reload_secret`: makes a component read its secret again.

use crate::arguments::{COMPONENT, each_able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "reload_secret",
    doc: "Makes a component read its secret again without a restart.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[COMPONENT],
    effect: |args, site| one_order(site, args, "component", "reload_secret", &[]),
    variants: |site| each_able(site, "component", "reload_secret"),
};
