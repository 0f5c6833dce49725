//! The descriptor of the auth kind: parameters, levers, operations.

use crate::behavior::AuthBehavior;
use crate::signals;
use machine::{LeverSpec, OperationSpec};
use model::{ParamKind, ParamSpec};
use server::ServerMachine;

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

server::server_kind! {
    /// The auth kind.
    Auth {
        name: "auth",
        doc: "verifies tokens and logs users in",
        params: OWN_PARAMS,
        levers: OWN_LEVERS,
        operations: OWN_OPERATIONS,
        rpcs: &["Login", "Verify"],
        columns: |setup| server::signals::columns(setup, signals::COLUMNS),
        signals: signals::SIGNALS,
        create: ServerMachine::<AuthBehavior>::create,
    }
}
