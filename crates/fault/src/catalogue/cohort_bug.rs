//! `cohort_bug`: an error that only one class of requests meets.

use crate::params::RATIO;
use crate::spec::{FaultSpec, SERVERS, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "cohort_bug",
    doc: "A flag or setting leads one class of requests into code that fails. There was no \
          deploy, and all versions fail alike. It ends with the flag; a rollback keeps the \
          flag.",
    targets: Targets::Kinds(SERVERS),
    params: &[
        ParamSpec::required("class", ParamKind::Class, "The class or route that is hit."),
        RATIO,
    ],
    levers: |aim| {
        aim.pull("server.errors", &["class", "ratio"]);
    },
    symptoms: &["Errors of one class only, on every version and every host."],
    twin: Some("bad_deploy"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("app", "class=checkout ratio=0.5", "app server.errors: class=checkout ratio=0.5")];
