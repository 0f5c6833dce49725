//! `link_abort`: a link that cuts connections.

use crate::params::RATIO;
use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "link_abort",
    doc: "A proxy or firewall on the way answers a share of attempts with an error at once. \
          The callee never sees them. It ends with the rule that does it.",
    targets: Targets::Edges,
    params: &[RATIO],
    levers: |aim| {
        aim.pull("edge.abort", &["ratio"]);
    },
    symptoms: &["Calls fail at once without a time-out; the callee counts fewer of them."],
    twin: Some("rate_limit"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("app -> db", "ratio=1", "app edge.abort over 2: ratio=1")];
