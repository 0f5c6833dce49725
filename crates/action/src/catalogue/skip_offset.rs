//! `skip_offset`: moves a partition's committed offset past messages.

use crate::arguments::{COMPONENT, PARTITION, each_able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};
use model::{ParamKind, ParamSpec};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "skip_offset",
    doc: "Moves the committed offset of one partition past messages, for good; what they promised \
          is never done.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        COMPONENT,
        PARTITION,
        ParamSpec::number(
            "messages",
            ParamKind::Count { min: 1, max: 1_000_000 },
            1.0,
            "How many messages, from the head on.",
        ),
    ],
    effect: |args, site| {
        one_order(site, args, "component", "skip_offset", &["partition", "messages"])
    },
    variants: |site| {
        let each = each_able(site, "component", "skip_offset").into_iter();
        each.flat_map(|args| {
            [(0.0, 1.0), (1.0, 100.0)].map(|(partition, messages)| {
                args.clone().with("partition", partition).with("messages", messages)
            })
        })
        .collect()
    },
};
