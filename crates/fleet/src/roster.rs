//! What a fleet is told: who is in it, and what moves in a round.

use std::collections::BTreeMap;

use machine::Moving;
use model::{EpisodeId, Inbox, Setup, Tick};

use crate::error::FleetError;

/// What the components of an episode are created from.
#[derive(Clone, Debug, PartialEq)]
pub struct Roster {
    /// The episode.
    pub episode: EpisodeId,
    /// Which owner of the episode this is; a component refuses calls of an older one.
    pub epoch: u64,
    /// Setups by instance id.
    pub setups: Vec<Setup>,
    /// The first tick.
    pub start: Tick,
}

impl Roster {
    /// Nobody, in no episode.
    pub(crate) fn empty() -> Roster {
        Roster { episode: EpisodeId(0), epoch: 0, setups: Vec::new(), start: Tick(0) }
    }

    /// Instance ids have to be positions.
    pub(crate) fn check(&self) -> Result<(), FleetError> {
        let out_of_place = self.setups.iter().enumerate().find(|(at, setup)| setup.id.at() != *at);
        match out_of_place {
            None => Ok(()),
            Some((at, setup)) => Err(FleetError::defect(format!(
                "setup {at} is for instance {}: list the setups by instance id",
                setup.id.0
            ))),
        }
    }

    /// Kinds with the positions of their instances, in alphabetical order.
    pub(crate) fn by_kind(&self) -> BTreeMap<&str, Vec<usize>> {
        let mut kinds: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, setup) in self.setups.iter().enumerate() {
            kinds.entry(&setup.spec.kind).or_default().push(at);
        }
        kinds
    }
}

/// One round of the flow plane.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// Where in virtual time.
    pub at: Moving,
    /// Inboxes by instance id.
    pub inboxes: &'a [Inbox],
    /// Ask for the digest of every instance as well (the last round of a step).
    pub want_digest: bool,
}

/// The state of all components of an episode, to go on from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Savepoint {
    /// Mutating calls made so far, by kind.
    pub seqs: BTreeMap<String, u64>,
    /// Snapshots by instance id.
    pub snapshots: Vec<Vec<u8>>,
}

impl Savepoint {
    /// It has to be of this roster.
    pub(crate) fn check(&self, roster: &Roster) -> Result<(), FleetError> {
        let (have, want) = (self.snapshots.len(), roster.setups.len());
        if have == want {
            return Ok(());
        }
        Err(FleetError::defect(format!("a savepoint of {have} instances for a roster of {want}")))
    }
}
