//! The request plane between components: one walk over the hops of a request, the tower layers
//! that every attempt passes, and the one channel type that reaches a component wherever it runs.
//! Decides nothing about the world, and knows no kind by name.

pub mod attempt;
pub mod channel;
pub mod deadline;
pub mod error;
pub mod peers;
pub mod status;
pub mod trace;
pub mod verdict;
pub mod walk;
pub mod wire;

#[cfg(test)]
mod tests;

pub use attempt::{Attempt, Reached};
pub use channel::{AddressError, Binding, Channel, LocalService, local_service};
pub use error::MeshError;
pub use peers::{PeerArm, Peers, ask, method, unary};
pub use walk::{Arm, walk};
pub use wire::WireError;
