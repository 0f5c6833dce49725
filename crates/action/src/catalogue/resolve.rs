//! `resolve`: ends the agent's phase.

use crate::arguments::none;
use crate::spec::{ActionClass, ActionSpec, Duration, Effect};
use model::{ParamKind, ParamSpec};

pub(super) const ACTION: ActionSpec = ActionSpec {
    name: "resolve",
    doc: "Declares the incident over and ends the episode. Time goes on without you.",
    class: ActionClass::Control,
    duration: Duration::Fixed(0),
    args: &[ParamSpec::text("summary", ParamKind::Text, "", "What happened and what was done.")],
    effect: |_, _| Ok(Effect::Resolve),
    variants: none,
};
