//! Laws of the flow plane: conservation, monotony, calm, and the verdicts of the per-request
//! simulation.

mod chain;
mod simulated;
mod stations;
mod verdicts;
mod worlds;
