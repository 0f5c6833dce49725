//! The descriptor of the gateway kind: parameters, levers, operations.

use crate::behavior::GatewayBehavior;
use crate::signals;
use machine::{Kind, LeverSpec, Machine, OperationSpec};
use model::{ParamError, ParamKind, ParamSpec, Setup};
use server::{LEVERS as SHARED_LEVERS, OPERATIONS as SHARED_OPERATIONS, PARAMS as SHARED_PARAMS};
use server::{ServerMachine, join_levers, join_operations, join_params};
use telemetry::{ColumnSpec, SignalSpec};

/// The gateway kind.
#[derive(Debug)]
pub struct Gateway;

/// The gateway kind, for the fleet's list.
pub static KIND: &dyn Kind = &Gateway;

const OWN_PARAMS: &[ParamSpec] = &[ParamSpec::number(
    "connection_churn",
    ParamKind::Number { min: 0.0001, max: 10.0 },
    0.02,
    "Share of the users' connections that are made anew, per second.",
)];

const OWN_LEVERS: &[LeverSpec] = &[
    LeverSpec {
        name: "gateway.certificate_expiry",
        doc: "The certificate is out of date: new connections fail, old ones live on.",
        args: &[],
    },
    LeverSpec {
        name: "gateway.rate_limit",
        doc: "A limit on requests, set too low.",
        args: &[ParamSpec::required(
            "rps",
            ParamKind::Number { min: 0.0, max: 1e9 },
            "Requests per second that pass.",
        )],
    },
    LeverSpec {
        name: "gateway.route_drop",
        doc: "A route is missing from the routing table.",
        args: &[ParamSpec::required("class", ParamKind::Class, "The route or class.")],
    },
];

const OWN_OPERATIONS: &[OperationSpec] = &[OperationSpec {
    verb: "renew_certificate",
    doc: "A new certificate, loaded without a restart.",
    args: &[],
    delay: 20,
}];
const RPCS: &[&str] = &["Route"];

const PARAM_COUNT: usize = OWN_PARAMS.len() + SHARED_PARAMS.len();
static PARAMS: [ParamSpec; PARAM_COUNT] = join_params::<PARAM_COUNT>(OWN_PARAMS, SHARED_PARAMS);

const LEVER_COUNT: usize = OWN_LEVERS.len() + SHARED_LEVERS.len();
static LEVERS: [LeverSpec; LEVER_COUNT] = join_levers::<LEVER_COUNT>(OWN_LEVERS, SHARED_LEVERS);

const OPERATION_COUNT: usize = OWN_OPERATIONS.len() + SHARED_OPERATIONS.len();
static OPERATIONS: [OperationSpec; OPERATION_COUNT] =
    join_operations::<OPERATION_COUNT>(OWN_OPERATIONS, SHARED_OPERATIONS);

impl Kind for Gateway {
    fn name(&self) -> &'static str {
        "gateway"
    }

    fn doc(&self) -> &'static str {
        "the users' entry: certificate, routes, rate limit"
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
        ServerMachine::<GatewayBehavior>::create(setup)
    }
}
