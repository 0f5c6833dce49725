//! `route_drop`: a route that the gateway no longer knows.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "route_drop",
    doc: "A push of routes lost one of them. Its requests are answered with not found, the \
          others are well, and nothing behind the gateway sees them. A rollback of the gateway \
          ends it.",
    targets: Targets::Kinds(&["gateway"]),
    params: &[ParamSpec::required("class", ParamKind::Class, "The class or route that is lost.")],
    levers: |aim| {
        aim.pull("gateway.route_drop", &["class"]);
    },
    symptoms: &["One route fails at once and wholly; components behind it are idle."],
    twin: Some("cohort_bug"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("gateway", "class=checkout", "gateway gateway.route_drop: class=checkout")];
