//! The database: queries and writes. What sets it apart is locks, plans, replication and its disk.

mod behavior;
mod kind;
mod replication;
mod signals;

pub use kind::{Db, KIND};
