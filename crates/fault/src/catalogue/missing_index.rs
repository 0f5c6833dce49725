//! `missing_index`: a query that reads the whole table.

use crate::params::FACTOR;
use crate::spec::{FaultSpec, Targets};
use model::{ParamKind, ParamSpec};

pub(super) const FAULT: FaultSpec = FaultSpec {
    name: "missing_index",
    doc: "One class of queries takes many times as long since an index is gone, and all others \
          wait behind it. The database is busy. Taking that class away ends the harm; a \
          restart makes the cache cold.",
    targets: Targets::Kinds(&["db"]),
    params: &[
        ParamSpec::required(
            "class",
            ParamKind::Class,
            "The class or route whose queries are slow.",
        ),
        FACTOR,
    ],
    levers: |aim| {
        aim.pull("db.slow_query", &["class", "factor"]);
    },
    symptoms: &["One class of queries takes most of the time of a busy database."],
    twin: Some("link_latency"),
};

#[cfg(test)]
pub(super) const ROWS: super::Rows =
    &[("db", "class=browse factor=30", "db db.slow_query: class=browse factor=30")];
