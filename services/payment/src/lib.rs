//! Payment: charges cards through a provider outside. What sets it apart is that provider.

mod behavior;
mod grpc;
mod kind;
mod signals;

pub use grpc::routes;
pub use kind::{KIND, Payment};
