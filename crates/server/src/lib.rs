//! What all request-serving kinds share: replica groups, edges and their policies, generic levers
//! and orders, columns, signals, logs, and the plan of a hop. A kind adds what is its own.

pub mod behavior;
pub mod catalogue;
pub mod group;
pub mod health;
pub mod join;
pub mod keys;
pub mod kind;
pub mod levers;
pub mod logs;
pub mod orders;
pub mod plan;
pub mod round;
pub mod signals;
pub mod state;
pub mod status;

pub use behavior::{Behavior, ServerMachine};
pub use catalogue::{LEVERS, OPERATIONS, PARAMS};
pub use join::{join_levers, join_operations, join_params, join_signals};
pub use logs::Phrases;
pub use plan::{OwnFailure, PastOf};
pub use state::{Active, Server, ServerState};
