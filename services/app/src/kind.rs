//! The descriptor of the app kind: parameters, levers, operations.

use crate::behavior::AppBehavior;
use crate::signals;
use machine::{LeverSpec, OperationSpec};
use model::{ParamKind, ParamSpec};
use server::ServerMachine;

const OWN_PARAMS: &[ParamSpec] = &[ParamSpec::number(
    "disk_writes",
    ParamKind::Ratio,
    0.0,
    "Share of requests that write to the disk of their host; without space they fail.",
)];
const OWN_LEVERS: &[LeverSpec] = &[];
const OWN_OPERATIONS: &[OperationSpec] = &[];

server::server_kind! {
    /// The app kind.
    App {
        name: "app",
        doc: "a business service: versions, worker threads",
        params: OWN_PARAMS,
        levers: OWN_LEVERS,
        operations: OWN_OPERATIONS,
        rpcs: &["Handle"],
        columns: |setup| server::signals::columns(setup, signals::COLUMNS),
        signals: signals::SIGNALS,
        create: ServerMachine::<AppBehavior>::create,
    }
}
