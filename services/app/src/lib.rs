//! The app: a business service. What sets it apart is its versions and its worker threads.

mod behavior;
mod grpc;
mod kind;
mod signals;

pub use grpc::routes;
pub use kind::{App, KIND};
