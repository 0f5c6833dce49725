//! `renew_certificate`: gives a component a new certificate.

use crate::arguments::{COMPONENT, each_able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "renew_certificate",
    doc: "Gives a component a new certificate and loads it without a restart.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[COMPONENT],
    effect: |args, site| one_order(site, args, "component", "renew_certificate", &[]),
    variants: |site| each_able(site, "component", "renew_certificate"),
};
