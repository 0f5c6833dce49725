//! The descriptor of the app kind: parameters, levers, operations.

use crate::behavior::AppBehavior;
use crate::signals;
use machine::{Kind, LeverSpec, Machine, OperationSpec};
use model::{ParamError, ParamKind, ParamSpec, Setup};
use server::{LEVERS as SHARED_LEVERS, OPERATIONS as SHARED_OPERATIONS, PARAMS as SHARED_PARAMS};
use server::{ServerMachine, join_levers, join_operations, join_params};
use telemetry::{ColumnSpec, SignalSpec};

/// The app kind.
#[derive(Debug)]
pub struct App;

/// The app kind, for the fleet's list.
pub static KIND: &dyn Kind = &App;

const OWN_PARAMS: &[ParamSpec] = &[ParamSpec::number(
    "disk_writes",
    ParamKind::Ratio,
    0.0,
    "Share of requests that write to the disk of their host; without space they fail.",
)];
const OWN_LEVERS: &[LeverSpec] = &[];
const OWN_OPERATIONS: &[OperationSpec] = &[];
const RPCS: &[&str] = &["Handle"];

const PARAM_COUNT: usize = OWN_PARAMS.len() + SHARED_PARAMS.len();
static PARAMS: [ParamSpec; PARAM_COUNT] = join_params::<PARAM_COUNT>(OWN_PARAMS, SHARED_PARAMS);

const LEVER_COUNT: usize = OWN_LEVERS.len() + SHARED_LEVERS.len();
static LEVERS: [LeverSpec; LEVER_COUNT] = join_levers::<LEVER_COUNT>(OWN_LEVERS, SHARED_LEVERS);

const OPERATION_COUNT: usize = OWN_OPERATIONS.len() + SHARED_OPERATIONS.len();
static OPERATIONS: [OperationSpec; OPERATION_COUNT] =
    join_operations::<OPERATION_COUNT>(OWN_OPERATIONS, SHARED_OPERATIONS);

impl Kind for App {
    fn name(&self) -> &'static str {
        "app"
    }

    fn doc(&self) -> &'static str {
        "a business service: versions, worker threads"
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
        ServerMachine::<AppBehavior>::create(setup)
    }
}
