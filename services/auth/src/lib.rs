//! Auth: verifies tokens and logs users in. What sets it apart is secrets, sessions and clocks.

mod behavior;
mod grpc;
mod kind;
mod signals;

pub use grpc::routes;
pub use kind::{Auth, KIND};
