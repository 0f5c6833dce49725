//! The request plane between components: one walk over the hops of a request, the tower layers
//! that every attempt passes, and the one channel type that reaches a component wherever it runs.
//! Decides nothing about the world, and knows no kind by name.

pub mod attempt;
pub mod deadline;
pub mod error;
pub mod trace;
pub mod verdict;
pub mod walk;

pub use attempt::{Attempt, Reached};
pub use error::MeshError;
pub use walk::{Arm, walk};
