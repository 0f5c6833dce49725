//! The cache: keeps what the store behind it is asked for, and asks the store for what it does not
//! have. What sets it apart is how much of that it has.

mod behavior;
mod content;
mod expiry;
mod grpc;
mod kind;
mod settings;
mod signals;
#[cfg(test)]
mod tests;

pub use grpc::routes;
pub use kind::{Cache, KIND};
