//! The descriptor of the payment kind: parameters, levers, operations.

use crate::behavior::{PROVIDER_NAME, PaymentBehavior};
use crate::signals;
use machine::{LeverSpec, OperationSpec};
use model::{ParamKind, ParamSpec};
use server::ServerMachine;

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

server::server_kind! {
    /// The payment kind.
    Payment {
        name: "payment",
        doc: "charges cards through an outside provider",
        params: OWN_PARAMS,
        levers: OWN_LEVERS,
        operations: OWN_OPERATIONS,
        rpcs: &["Charge"],
        columns: |setup| server::signals::columns(setup, signals::COLUMNS),
        signals: signals::SIGNALS,
        create: ServerMachine::<PaymentBehavior>::create,
    }

    fn third_parties(&self) -> &'static [&'static str] {
        &[PROVIDER_NAME]
    }
}
