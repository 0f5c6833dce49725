//! Episodes for agents: what the agents' protocol calls an environment, over [`Sessions`]. Nothing
//! here knows more than an agent may.
//!
//! [`Sessions`]: crate::sessions::Sessions

mod catalogue;
mod environment;
pub mod listener;
mod observation;
mod refusal;

pub use catalogue::{SEEDS_PER_SPLIT, catalogue};
pub use environment::{Gym, ended};
pub use observation::seen;

#[cfg(test)]
mod tests;
