//! Laws of the flow plane: conservation, monotony, calm, and what the per-request simulation found
//! to heal and to collapse. How near the numbers are is in `fidelity`.

mod chain;
mod deferred;
mod stations;
mod verdicts;
mod worlds;
