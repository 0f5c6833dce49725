//! `topology`: who calls whom, how often and with which policy.

use crate::arguments::none;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect, Reading};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "topology",
    doc: "Shows components, hosts, request classes, and who calls whom with which policy.",
    class: ActionClass::Read,
    duration: Duration::READ,
    args: &[],
    effect: |_, _| Ok(Effect::Read(Reading::Topology)),
    variants: none,
};
