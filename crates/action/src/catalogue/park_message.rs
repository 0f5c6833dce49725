//! `park_message`: puts the message at the head of a partition among the dead letters.

use crate::arguments::{COMPONENT, PARTITION, each_able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "park_message",
    doc: "Puts the message at the head of one partition among the dead letters, where it is kept; \
          the partition goes on with the next one.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[COMPONENT, PARTITION],
    effect: |args, site| one_order(site, args, "component", "park_message", &["partition"]),
    variants: |site| {
        let each = each_able(site, "component", "park_message").into_iter();
        each.flat_map(|args| [0.0, 1.0].map(|n| args.clone().with("partition", n))).collect()
    },
};
