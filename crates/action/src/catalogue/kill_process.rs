//! `kill_process`: kills one process of a host.

use crate::arguments::{HOST, none, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};
use model::{ParamKind, ParamSpec};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "kill_process",
    doc: "Kills one process of a host; its unit decides whether it starts again.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        HOST,
        ParamSpec::required(
            "pid",
            ParamKind::Count { min: 1, max: 4_194_304 },
            "The number of the process, as the status of the host shows it.",
        ),
    ],
    effect: |args, site| one_order(site, args, "host", "kill_process", &["pid"]),
    // Process numbers are not in the topology.
    variants: none,
};
