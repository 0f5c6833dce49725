//! Small dense ids. They index vectors, so they are positions in the topology, not names.

use serde::{Deserialize, Serialize};

/// Position of an instance in its topology (0..instances).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct InstanceId(pub u16);

/// Position of an edge in its topology (0..edges), the users' edges included.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EdgeId(pub u16);

/// Position of a request class (route × cohort) in its topology (0..[`crate::CLASSES_MAX`]).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ClassId(pub u8);

/// Name of one episode within a fleet.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EpisodeId(pub u64);

impl InstanceId {
    /// The id as an index.
    pub fn at(self) -> usize {
        usize::from(self.0)
    }
}

impl EdgeId {
    /// The id as an index.
    pub fn at(self) -> usize {
        usize::from(self.0)
    }
}

impl ClassId {
    /// The id as an index.
    pub fn at(self) -> usize {
        usize::from(self.0)
    }
}

impl std::fmt::Display for EpisodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
