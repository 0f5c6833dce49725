//! The descriptor of the payment kind: parameters, levers, operations.

use crate::behavior::{PROVIDER_NAME, PaymentBehavior};
use crate::signals;
use machine::{Kind, LeverSpec, Machine, OperationSpec};
use model::{ParamError, ParamKind, ParamSpec, Setup};
use server::{LEVERS as SHARED_LEVERS, OPERATIONS as SHARED_OPERATIONS, PARAMS as SHARED_PARAMS};
use server::{ServerMachine, join_levers, join_operations, join_params};
use telemetry::{ColumnSpec, SignalSpec};

/// The payment kind.
#[derive(Debug)]
pub struct Payment;

/// The payment kind, for the fleet's list.
pub static KIND: &dyn Kind = &Payment;

const OWN_PARAMS: &[ParamSpec] = &[
    ParamSpec::number(
        "provider_time",
        ParamKind::Duration { min: 0.0, max: 60.0 },
        0.08,
        "Time of the provider's answer.",
    ),
    ParamSpec::number(
        "provider_timeout",
        ParamKind::Duration { min: 0.01, max: 60.0 },
        3.0,
        "Payment waits no longer for the provider.",
    ),
];

const OWN_LEVERS: &[LeverSpec] = &[
    LeverSpec {
        name: "payment.provider_errors",
        doc: "The provider answers a share of the charges with an error.",
        args: &[ParamSpec::required("ratio", ParamKind::Ratio, "Share of the charges.")],
    },
    LeverSpec {
        name: "payment.provider_slow",
        doc: "The provider takes longer.",
        args: &[ParamSpec::required(
            "factor",
            ParamKind::Number { min: 1.0, max: 10_000.0 },
            "Times as long.",
        )],
    },
];

const OWN_OPERATIONS: &[OperationSpec] = &[];
const RPCS: &[&str] = &["Charge"];

const PARAM_COUNT: usize = OWN_PARAMS.len() + SHARED_PARAMS.len();
static PARAMS: [ParamSpec; PARAM_COUNT] = join_params::<PARAM_COUNT>(OWN_PARAMS, SHARED_PARAMS);

const LEVER_COUNT: usize = OWN_LEVERS.len() + SHARED_LEVERS.len();
static LEVERS: [LeverSpec; LEVER_COUNT] = join_levers::<LEVER_COUNT>(OWN_LEVERS, SHARED_LEVERS);

const OPERATION_COUNT: usize = OWN_OPERATIONS.len() + SHARED_OPERATIONS.len();
static OPERATIONS: [OperationSpec; OPERATION_COUNT] =
    join_operations::<OPERATION_COUNT>(OWN_OPERATIONS, SHARED_OPERATIONS);

impl Kind for Payment {
    fn name(&self) -> &'static str {
        "payment"
    }

    fn doc(&self) -> &'static str {
        "charges cards through an outside provider"
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

    fn third_parties(&self) -> &'static [&'static str] {
        &[PROVIDER_NAME]
    }

    fn columns(&self, setup: &Setup) -> Vec<ColumnSpec> {
        server::signals::columns(setup, signals::COLUMNS)
    }

    fn signals(&self) -> &'static [SignalSpec] {
        signals::SIGNALS
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn Machine>, ParamError> {
        ServerMachine::<PaymentBehavior>::create(setup)
    }
}
