//! Measures the budgets of the world: what a tick, a reset, a fork, an episode in memory and a
//! remote step cost. The only place that reads a wall clock on purpose.

mod machine;
mod report;
mod worlds;

pub use report::Table;
pub use worlds::{Measured, measure};
