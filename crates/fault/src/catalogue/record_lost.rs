//! `record_lost`: a name that does not exist any more.

use crate::params::RECORD;
use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "record_lost",
    doc: "A push of a zone left out the entry of a name. Callers keep the address until their \
          caches run out; from then on their calls fail at once. The component itself is well and \
          hears less and less. The entry written anew ends it as the negative answers run out, a \
          flush of the caches afterwards at once; before, it cuts off everybody.",
    targets: Targets::Kinds(&["dns"]),
    params: &[RECORD],
    levers: |aim| {
        aim.pull("dns.record_lost", &["record"]);
    },
    symptoms: &[
        "A healthy component gets fewer requests from minute to minute.",
        "Its callers fail at once; their logs speak of a host that does not exist.",
    ],
    twin: Some("record_wrong"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("names", "record=orders.internal", "names dns.record_lost: record=orders.internal")];
