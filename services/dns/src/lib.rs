//! Dns: answers for names. What sets it apart is the caches of those who ask: what changes here
//! reaches callers little by little.

mod behavior;
mod caches;
mod grpc;
mod kind;
mod signals;

pub use grpc::routes;
pub use kind::{Dns, KIND};
