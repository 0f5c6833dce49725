//! `wait`: lets time pass.

use crate::arguments::none;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect};
use model::{ParamKind, ParamSpec};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "wait",
    doc: "Does nothing for some seconds.",
    class: ActionClass::Control,
    duration: Duration::Asked,
    args: &[ParamSpec::required(
        "seconds",
        ParamKind::Count { min: 1, max: 600 },
        "How long, seconds.",
    )],
    effect: |args, _| Ok(Effect::Wait(args.number("seconds") as u32)),
    variants: none,
};
