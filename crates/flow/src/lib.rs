//! Load as rates: the queueing formulas of the flow plane and the component core built on them.
//!
//! Pure functions and plain state: no clock, no generator, no hash map, and every transcendental
//! from `libm`, so that the same inputs give the same bits everywhere. Modules in reading order.

#![allow(clippy::needless_range_loop, reason = "a class indexes several arrays side by side")]

pub mod normal;

pub mod mmck;

pub mod balance;
pub mod latency;
pub mod network;
pub mod queue;
pub mod retry;

pub mod breaker;
pub mod pool;

pub mod spec;

pub mod edge;
mod naming;
pub mod tier;
pub mod users;

pub use balance::Balance;
pub use breaker::{Breaker, Phase};
pub use edge::EdgeState;
pub use latency::{latency_draw, latency_draw_within, quantile, timeout_prob};
pub use spec::{EdgeKnobs, EdgeSpec, GroupKnobs, Knobs, TierSpec};
pub use tier::{EdgeRound, Round, TierCore, TierState};
pub use users::{Outcome, UsersEdge, UsersSpec, sharpen};
