//! The truth about one component, for the grader and the control plane only.

use crate::order::LeverPull;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The truth about one component at one instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Levers that are pulled now.
    pub levers: Vec<LeverPull>,
    /// Orders accepted but not yet in effect: verb and seconds left.
    pub pending: Vec<(String, i64)>,
    /// Facts by name, e.g. `replicas`, `queue`, `lost_writes`; units at the end of the names.
    pub facts: BTreeMap<String, f64>,
}

impl Inspection {
    /// The fact `name`, or 0.
    pub fn fact(&self, name: &str) -> f64 {
        self.facts.get(name).copied().unwrap_or(0.0)
    }
}
