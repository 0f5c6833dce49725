//! `flush_resolver`: empties the caches of a name service.

use crate::arguments::{COMPONENT, each_able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "flush_resolver",
    doc: "Empties all caches in front of a name service. Everybody asks again at once and gets what \
          the zone says now, be it right or wrong.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[COMPONENT],
    effect: |args, site| one_order(site, args, "component", "flush_resolver", &[]),
    variants: |site| each_able(site, "component", "flush_resolver"),
};
