//! `record_wrong`: a name with the address of nobody.

use crate::params::RECORD;
use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "record_wrong",
    doc: "A push of a zone gave a name an address where nobody answers. As caches run out, more and \
          more calls wait for their whole time-out and hold their callers' workers meanwhile, while \
          the component itself is well and hears less and less. The entry written anew ends it \
          within a time to live, a flush of the caches afterwards at once.",
    targets: Targets::Kinds(&["dns"]),
    params: &[RECORD],
    levers: |aim| {
        aim.pull("dns.record_wrong", &["record"]);
    },
    symptoms: &[
        "A healthy component gets fewer requests from minute to minute.",
        "Its callers wait for their time-outs, and their slots fill.",
    ],
    twin: Some("partition"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("names", "record=orders.internal", "names dns.record_wrong: record=orders.internal")];
