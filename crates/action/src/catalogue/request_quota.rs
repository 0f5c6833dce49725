//! `request_quota`: asks a third party to allow more calls.

use crate::arguments::{COMPONENT, able, one_order};
use crate::spec::{ActionClass, ActionSpec, Duration};
use model::{ParamKind, ParamSpec, Params};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "request_quota",
    doc: "Asks a third party for a higher quota; minutes pass until somebody there decides.",
    class: ActionClass::Mutate,
    duration: Duration::MUTATE,
    args: &[
        COMPONENT,
        ParamSpec::required(
            "rps",
            ParamKind::Number { min: 0.1, max: 1e6 },
            "Calls per second that are needed.",
        ),
    ],
    effect: |args, site| one_order(site, args, "component", "request_quota", &["rps"]),
    variants: |site| {
        let asks = |spec: &model::InstanceSpec| {
            let base = Params::default().with("component", &*spec.name);
            let rates = [1.0, 2.0].map(|factor| factor * spec.params.number("quota"));
            rates.map(|rps| base.clone().with("rps", rps.clamp(0.1, 1e6)))
        };
        able(site, "request_quota").flat_map(asks).collect()
    },
};
