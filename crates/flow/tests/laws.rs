//! Laws of the flow plane: conservation, monotony, calm, and the verdicts of the per-request
//! simulation.

mod chain;
mod stations;
mod verdicts;
mod worlds;
