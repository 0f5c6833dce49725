//! The third party: a provider or origin that others run. What sets it apart is its quota, and that
//! nobody here has a hand on it.

mod behavior;
mod grpc;
mod kind;
mod quota;
mod signals;
#[cfg(test)]
mod tests;

pub use grpc::routes;
pub use kind::{External, KIND};
