//! The database: queries and writes. What sets it apart is locks, plans, replication and its disk.

mod behavior;
mod grpc;
mod kind;
mod replication;
mod signals;

pub use grpc::routes;
pub use kind::{Db, KIND};
