//! Traces of this program's own processes, across them: the current span goes out with a call of
//! the control plane, and comes in at the process that answers it. Wall time, and never a request
//! of the simulation: those have a trace of their own, which the mesh carries.

mod carry;
mod layer;

pub use carry::carry;
pub use layer::{Follow, TrailLayer};

#[cfg(test)]
mod tests;
