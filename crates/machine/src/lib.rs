//! The contract between a component's behavior and everything that runs it: a pure [`Machine`],
//! the [`Kind`] that makes it, and the [`Instance`] that drives one the same way in every body.

pub mod instance;
pub mod kind;
pub mod snapshot;

pub use instance::{Advanced, Instance, Moving};
pub use kind::{Cx, Kind, Kinds, LeverSpec, Machine, OperationSpec, Past};
pub use snapshot::{SnapshotError, decode, digest, encode};
