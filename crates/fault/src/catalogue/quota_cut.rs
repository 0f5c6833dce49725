//! `quota_cut`: a third party that allows fewer calls.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "quota_cut",
    doc: "A third party allows fewer calls than are made and answers the rest with too many \
          requests. What passes is flat to the digit, and refused calls count against it, so that \
          retries get less and not more. It ends with a higher quota, which somebody there has to \
          grant; until then fewer calls have to do.",
    targets: Targets::Kinds(&["external"]),
    params: &[ParamSpec::required(
        "rps",
        ParamKind::Number { min: 0.1, max: 1e6 },
        "Calls per second that pass.",
    )],
    levers: |aim| {
        aim.pull("external.quota", &["rps"]);
    },
    symptoms: &["A flat ceiling of calls that pass; all others are refused in no time."],
    twin: Some("provider_brownout"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("acquirer", "rps=90", "acquirer external.quota: rps=90")];
