//! `flush_cache`: drops what a component keeps of others' answers.

use crate::arguments::{COMPONENT, each_able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "flush_cache",
    doc: "Drops all entries of a cache, or of the cache of a frontend's sessions; until it is warm \
          again every lookup costs what it costs without a cache.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[COMPONENT],
    effect: |args, site| one_order(site, args, "component", "flush", &[]),
    variants: |site| each_able(site, "component", "flush"),
};
