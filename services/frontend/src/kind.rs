//! The descriptor of the frontend kind: parameters, levers, operations.

use crate::behavior::FrontendBehavior;
use crate::signals;
use machine::{LeverSpec, OperationSpec};
use model::{ParamKind, ParamSpec};
use server::ServerMachine;

const OWN_PARAMS: &[ParamSpec] = &[
    ParamSpec::number(
        "hit_ratio",
        ParamKind::Ratio,
        0.9,
        "Share of pages whose session is in the cache, when it is warm.",
    ),
    ParamSpec::number(
        "miss_cost",
        ParamKind::Number { min: 0.0, max: 100.0 },
        4.0,
        "Own work of a page without a cached session, beyond that of one with it, in multiples.",
    ),
    ParamSpec::number(
        "refill",
        ParamKind::Duration { min: 1.0, max: 3600.0 },
        45.0,
        "Mean time in which an empty cache is filled again.",
    ),
];

const OWN_LEVERS: &[LeverSpec] = &[LeverSpec {
    name: "frontend.stale_cache",
    doc: "A share of the clients gets entries that are not valid any more: their pages fail, and \
          they call again and again, until the cache is emptied.",
    args: &[
        ParamSpec::required("ratio", ParamKind::Ratio, "Share of the clients."),
        ParamSpec::number(
            "calls",
            ParamKind::Number { min: 0.0, max: 1000.0 },
            10.0,
            "Calls that such a page makes in vain, for each that a page makes otherwise.",
        ),
    ],
}];

const OWN_OPERATIONS: &[OperationSpec] = &[OperationSpec {
    verb: "flush",
    doc: "Empties the cache of sessions; pages cost more until it is filled again.",
    args: &[],
    delay: 1,
}];

server::server_kind! {
    /// The frontend kind.
    Frontend {
        name: "frontend",
        doc: "serves pages to clients: session cache, repeated calls",
        params: OWN_PARAMS,
        levers: OWN_LEVERS,
        operations: OWN_OPERATIONS,
        rpcs: &["Page"],
        columns: |setup| server::signals::columns(setup, signals::COLUMNS),
        signals: signals::SIGNALS,
        create: ServerMachine::<FrontendBehavior>::create,
    }
}
