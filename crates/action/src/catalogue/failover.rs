//! `failover`: makes a replica of a database its primary.

use crate::arguments::{COMPONENT, each_able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "failover",
    doc: "Makes a replica of a database its primary; writes not yet replicated are lost.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[COMPONENT],
    effect: |args, site| one_order(site, args, "component", "failover", &[]),
    variants: |site| each_able(site, "component", "failover"),
};
