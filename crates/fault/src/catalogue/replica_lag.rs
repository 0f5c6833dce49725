//! `replica_lag`: replicas that fall behind their primary.

use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "replica_lag",
    doc: "Writes arrive at the replicas later and later. Reads answer old facts, and a \
          failover loses what has not arrived. It ends when the writer slows down or the \
          replicas catch up.",
    targets: Targets::Kinds(&["db"]),
    params: &[ParamSpec::required(
        "rate",
        ParamKind::Number { min: 0.001, max: 1.0 },
        "Seconds of lag gained per second.",
    )],
    levers: |aim| {
        aim.pull("db.replica_lag", &["rate"]);
    },
    symptoms: &["Lag grows steadily while latency is as ever."],
    twin: Some("disk_full"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows = &[("db", "rate=0.5", "db db.replica_lag: rate=0.5")];
