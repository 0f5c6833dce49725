//! What the control plane tells a component: orders (an operator's) and levers (a fault's).

use crate::ids::{EdgeId, InstanceId};
use crate::params::Params;
use serde::{Deserialize, Serialize};

/// An operator's order to one component. Its verb and arguments are declared by the kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Who is to obey.
    pub target: InstanceId,
    /// Name of one of the kind's operations.
    pub verb: String,
    /// Its arguments, checked against the operation's parameter list.
    pub args: Params,
}

/// One pull of a named lever, by a fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeverPull {
    /// Unique within the episode; `Clear` names it.
    pub id: u64,
    /// The component whose lever it is.
    pub target: InstanceId,
    /// Set for the levers of an edge: the caller's outgoing edge.
    pub edge: Option<EdgeId>,
    /// Name of one of the kind's levers.
    pub lever: String,
    /// Strength and details, checked against the lever's parameter list.
    pub args: Params,
}

/// Why a component did not do as told. A simulated fact: the agent reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// One sentence.
    pub reason: String,
}

impl Refusal {
    /// A refusal with this sentence.
    pub fn because(reason: impl Into<String>) -> Refusal {
        Refusal { reason: reason.into() }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}
