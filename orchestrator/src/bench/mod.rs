//! Measures the budgets of the world: what a tick, a reset, a fork, an episode in memory and a
//! remote step cost, and what an agent's step costs the server. The only place that reads a wall
//! clock on purpose.

mod agents;
mod herd;
mod machine;
mod report;
mod worlds;

pub use agents::{AGENTS, Pace, REFERENCE_ROW, measure as measure_agents};
pub use herd::Herd;
pub use report::Table;
pub use worlds::{Measured, measure};
