//! The gateway: the users' entry. What sets it apart is its certificate, its routes and its limits.

mod behavior;
mod grpc;
mod kind;
mod signals;

pub use grpc::routes;
pub use kind::{Gateway, KIND};
