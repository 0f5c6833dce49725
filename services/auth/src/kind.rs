//! The descriptor of the auth kind: parameters, levers, operations.

use crate::behavior::AuthBehavior;
use crate::signals;
use machine::{Kind, LeverSpec, Machine, OperationSpec};
use model::{ParamError, ParamKind, ParamSpec, Setup};
use server::{LEVERS as SHARED_LEVERS, OPERATIONS as SHARED_OPERATIONS, PARAMS as SHARED_PARAMS};
use server::{ServerMachine, join_levers, join_operations, join_params};
use telemetry::{ColumnSpec, SignalSpec};

/// The auth kind.
#[derive(Debug)]
pub struct Auth;

/// The auth kind, for the fleet's list.
pub static KIND: &dyn Kind = &Auth;

const GROUP: ParamSpec =
    ParamSpec::text("group", ParamKind::Text, "", "Only this replica group; empty: all.");

const OWN_PARAMS: &[ParamSpec] = &[
    ParamSpec::number(
        "leeway",
        ParamKind::Duration { min: 0.0, max: 3600.0 },
        60.0,
        "Clock error up to which a token is accepted.",
    ),
    ParamSpec::number(
        "login_cost",
        ParamKind::Number { min: 0.0, max: 100.0 },
        6.0,
        "Own work of a request without a session, beyond that of one with it, in multiples.",
    ),
];

const OWN_LEVERS: &[LeverSpec] = &[
    LeverSpec {
        name: "auth.bad_secret",
        doc: "The configuration names a secret that is not there: the process ends at its start.",
        args: &[GROUP],
    },
    LeverSpec {
        name: "auth.session_loss",
        doc: "A share of the users has no session any more and logs in again.",
        args: &[ParamSpec::required("ratio", ParamKind::Ratio, "Share of the users.")],
    },
    LeverSpec {
        name: "auth.stale_secret",
        doc: "Replicas verify with the secret before the last rotation.",
        args: &[GROUP],
    },
];

const OWN_OPERATIONS: &[OperationSpec] = &[];
const RPCS: &[&str] = &["Login", "Verify"];

const PARAM_COUNT: usize = OWN_PARAMS.len() + SHARED_PARAMS.len();
static PARAMS: [ParamSpec; PARAM_COUNT] = join_params::<PARAM_COUNT>(OWN_PARAMS, SHARED_PARAMS);

const LEVER_COUNT: usize = OWN_LEVERS.len() + SHARED_LEVERS.len();
static LEVERS: [LeverSpec; LEVER_COUNT] = join_levers::<LEVER_COUNT>(OWN_LEVERS, SHARED_LEVERS);

const OPERATION_COUNT: usize = OWN_OPERATIONS.len() + SHARED_OPERATIONS.len();
static OPERATIONS: [OperationSpec; OPERATION_COUNT] =
    join_operations::<OPERATION_COUNT>(OWN_OPERATIONS, SHARED_OPERATIONS);

impl Kind for Auth {
    fn name(&self) -> &'static str {
        "auth"
    }

    fn doc(&self) -> &'static str {
        "verifies tokens and logs users in"
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
        ServerMachine::<AuthBehavior>::create(setup)
    }
}
