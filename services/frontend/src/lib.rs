//! Frontend: serves pages to clients. What sets it apart is the cache of its sessions, and what
//! clients do that hold stale entries of it.

mod behavior;
mod grpc;
mod kind;
mod signals;

pub use grpc::routes;
pub use kind::{Frontend, KIND};
