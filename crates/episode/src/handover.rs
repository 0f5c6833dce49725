//! What the grader gets of an episode that is over.

use crate::engine::Engine;
use fleet::Savepoint;
use model::Inspection;
use record::Record;

/// Record, engine state, and what the components say of themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Handover {
    /// The record.
    pub record: Record,
    /// State of the engine after the last step.
    pub engine: Engine,
    /// Snapshots of all components, taken by the grader through its own client where there is one.
    pub savepoint: Savepoint,
    /// The truth about each component at done.
    pub inspections: Vec<Inspection>,
}
