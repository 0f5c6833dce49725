//! `migration_lock`: a migration that holds a lock.

use crate::params::CLASS;
use crate::spec::{FaultSpec, Targets};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "migration_lock",
    doc: "A session holds an exclusive lock and everything that needs the table waits. The \
          database is idle while the pools of its callers are full. Ending that session ends \
          it; restarts of callers come back to wait.",
    targets: Targets::Kinds(&["db"]),
    params: &[CLASS],
    levers: |aim| {
        aim.pull("db.lock", &["class"]);
    },
    symptoms: &["Waiting queries grow while CPU falls.", "Pools of all callers are full."],
    twin: Some("connection_leak"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("db", "", "db db.lock:"), ("db", "class=checkout", "db db.lock: class=checkout")];
