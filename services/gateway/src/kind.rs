//! The descriptor of the gateway kind: parameters, levers, operations.

use crate::behavior::GatewayBehavior;
use crate::signals;
use machine::{LeverSpec, OperationSpec};
use model::{ParamKind, ParamSpec};
use server::ServerMachine;

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

server::server_kind! {
    /// The gateway kind.
    Gateway {
        name: "gateway",
        doc: "the users' entry: certificate, routes, rate limit",
        params: OWN_PARAMS,
        levers: OWN_LEVERS,
        operations: OWN_OPERATIONS,
        rpcs: &["Route"],
        columns: |setup| server::signals::columns(setup, signals::COLUMNS),
        signals: signals::SIGNALS,
        create: ServerMachine::<GatewayBehavior>::create,
    }
}
