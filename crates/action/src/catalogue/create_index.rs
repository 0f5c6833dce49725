//! `create_index`: gives the statements of a route the index that they miss.

use crate::arguments::{COMPONENT, none, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};
use model::{ParamKind, ParamSpec};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "create_index",
    doc: "Builds an index in a database for the statements of a route, while it goes on serving.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        COMPONENT,
        ParamSpec::required(
            "table",
            ParamKind::Text,
            "The table that the statements read; it is called as their route is.",
        ),
    ],
    effect: |args, site| one_order(site, args, "component", "create_index", &["table"]),
    // Whoever looks knows which statements scan; nobody draws it by chance.
    variants: none,
};
