//! The descriptor of the frontend kind: parameters, levers, operations.

use crate::behavior::FrontendBehavior;
use crate::signals;
use machine::{Kind, LeverSpec, Machine, OperationSpec};
use model::{ParamError, ParamKind, ParamSpec, Setup};
use server::{LEVERS as SHARED_LEVERS, OPERATIONS as SHARED_OPERATIONS, PARAMS as SHARED_PARAMS};
use server::{ServerMachine, join_levers, join_operations, join_params};
use telemetry::{ColumnSpec, SignalSpec};

/// The frontend kind.
#[derive(Debug)]
pub struct Frontend;

/// The frontend kind, for the fleet's list.
pub static KIND: &dyn Kind = &Frontend;

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
const RPCS: &[&str] = &["Page"];

const PARAM_COUNT: usize = OWN_PARAMS.len() + SHARED_PARAMS.len();
static PARAMS: [ParamSpec; PARAM_COUNT] = join_params::<PARAM_COUNT>(OWN_PARAMS, SHARED_PARAMS);

const LEVER_COUNT: usize = OWN_LEVERS.len() + SHARED_LEVERS.len();
static LEVERS: [LeverSpec; LEVER_COUNT] = join_levers::<LEVER_COUNT>(OWN_LEVERS, SHARED_LEVERS);

const OPERATION_COUNT: usize = OWN_OPERATIONS.len() + SHARED_OPERATIONS.len();
static OPERATIONS: [OperationSpec; OPERATION_COUNT] =
    join_operations::<OPERATION_COUNT>(OWN_OPERATIONS, SHARED_OPERATIONS);

impl Kind for Frontend {
    fn name(&self) -> &'static str {
        "frontend"
    }

    fn doc(&self) -> &'static str {
        "serves pages to clients: session cache, repeated calls"
    }

    fn params(&self) -> &'static [ParamSpec] {
        &PARAMS
    }

    fn levers(&self) -> &'static [LeverSpec] {
        &LEVERS
    }

    fn operations(&self) -> &'static [OperationSpec] {
        &OPERATIONS
    }

    fn rpcs(&self) -> &'static [&'static str] {
        RPCS
    }

    fn columns(&self, setup: &Setup) -> Vec<ColumnSpec> {
        server::signals::columns(setup, signals::COLUMNS)
    }

    fn signals(&self) -> &'static [SignalSpec] {
        signals::SIGNALS
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn Machine>, ParamError> {
        ServerMachine::<FrontendBehavior>::create(setup)
    }
}
