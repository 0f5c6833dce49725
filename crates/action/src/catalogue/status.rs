//! `status`: how one component or all of them are.

use crate::arguments::none;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect, Reading};
use model::{ParamKind, ParamSpec};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "status",
    doc: "Shows the present status of a component and its replica groups, or of all components.",
    class: ActionClass::Read,
    duration: Duration::READ,
    args: &[ParamSpec::text(
        "component",
        ParamKind::Component,
        "",
        "Only this component; empty: all of them.",
    )],
    effect: |args, site| {
        Ok(Effect::Read(Reading::Status { of: site.component_if_given(args, "component")? }))
    },
    variants: none,
};
