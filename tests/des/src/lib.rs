//! A per-request discrete-event simulation of a graph of tiers: what a flow model is held against.
//!
//! Every request is followed by itself: it waits in a queue, holds a slot while it works and while
//! it waits for its own calls, times out, is retried, is abandoned and worked on nevertheless.
//! There is no formula for a queue or a retry in this crate, and it depends on no other crate, so
//! an agreement with the flow model cannot come from a shared mistake.

mod agenda;
mod breaker;
mod call;
mod change;
mod config;
mod edge;
mod output;
mod record;
mod recorder;
mod rng;
mod schedule;
mod serve;
mod sim;
mod tier;
mod users;
mod verdict;

pub use config::{Balance, Breaker, Budget, Class, Config, Edge, Group, Pool, Spread, Tier, Users};
pub use output::{ClassRow, EdgeRow, Interval, Output, TierRow};
pub use rng::Rng;
pub use schedule::Schedule;
pub use sim::run;
pub use verdict::{Chain, Dip, verdict_chain};
