//! `topology`: what there is and who calls whom. Policies are configuration: `config` shows them.

use crate::arguments::none;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect, Reading};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "topology",
    doc: "Shows components, hosts, request classes, and who calls whom. Policies: see config.",
    class: ActionClass::Read,
    duration: Duration::READ,
    args: &[],
    effect: |_, _| Ok(Effect::Read(Reading::Topology)),
    variants: none,
};
