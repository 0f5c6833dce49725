//! `kill_session`: ends one session of a database.

use crate::arguments::{COMPONENT, each_able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};
use model::{ParamKind, ParamSpec};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "kill_session",
    doc: "Ends one session of a database; its open transaction is rolled back.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        COMPONENT,
        ParamSpec::required(
            "session",
            ParamKind::Count { min: 1, max: 1_000_000 },
            "The number of the session, as status and logs show it.",
        ),
    ],
    effect: |args, site| one_order(site, args, "component", "kill_session", &["session"]),
    variants: |site| {
        let each = each_able(site, "component", "kill_session").into_iter();
        each.flat_map(|args| [1.0, 2.0].map(|n| args.clone().with("session", n))).collect()
    },
};
