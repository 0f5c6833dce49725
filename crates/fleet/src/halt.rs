//! Numbers of mutating calls per kind, counted the same way in every body, and the place where a
//! replay is to stop. With these an embedded replay of a record finds the very state that a lost
//! component was in.

use std::collections::BTreeMap;

use crate::error::FleetError;
use crate::roster::Roster;

/// One kind of the episode: its instances get their calls together, under one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    /// The kind.
    pub(crate) kind: String,
    /// Number of its last mutating call; `Create` is 1.
    pub(crate) seq: u64,
    /// Positions of its instances, ascending.
    pub(crate) members: Vec<usize>,
}

/// All lanes of an episode, in alphabetical order, and where to stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lanes {
    pub(crate) lanes: Vec<Lane>,
    of: Vec<usize>,
    halt: Option<(String, u64)>,
}

impl Lanes {
    /// The lanes of a roster; no call is counted yet.
    pub(crate) fn new(roster: &Roster) -> Lanes {
        let mut of = vec![0; roster.setups.len()];
        let mut lanes = Vec::new();
        for (kind, members) in roster.by_kind() {
            members.iter().for_each(|at| of[*at] = lanes.len());
            lanes.push(Lane { kind: kind.into(), seq: 0, members });
        }
        Lanes { lanes, of, halt: None }
    }

    /// Position of the lane of an instance.
    pub(crate) fn of(&self, instance: usize) -> Option<usize> {
        self.of.get(instance).copied()
    }

    /// The lane of `kind`.
    pub(crate) fn named(&self, kind: &str) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.kind == kind)
    }

    /// Numbers of the last calls.
    pub(crate) fn seqs(&self) -> BTreeMap<String, u64> {
        self.lanes.iter().map(|lane| (lane.kind.clone(), lane.seq)).collect()
    }

    /// Continues from these numbers.
    pub(crate) fn set_seqs(&mut self, seqs: &BTreeMap<String, u64>) -> Result<(), FleetError> {
        for lane in &mut self.lanes {
            lane.seq = *seqs.get(&lane.kind).ok_or_else(|| {
                FleetError::defect(format!("the savepoint has no number for {}", lane.kind))
            })?;
        }
        Ok(())
    }

    /// Stops before call `seq` of `kind`.
    pub(crate) fn halt_before(&mut self, kind: &str, seq: u64) {
        self.halt = Some((kind.to_string(), seq));
    }

    /// Goes on without a stop.
    pub(crate) fn go_on(&mut self) {
        self.halt = None;
    }

    /// Keeps the stop of `other`.
    pub(crate) fn halting_like(mut self, other: &Lanes) -> Lanes {
        self.halt.clone_from(&other.halt);
        self
    }

    /// Counts one call of the lane `at`, or of all lanes; stops before counting any.
    pub(crate) fn count(&mut self, at: Option<usize>) -> Result<(), FleetError> {
        if let Some((kind, seq)) = &self.halt {
            let due = |lane: &Lane| lane.kind == *kind && lane.seq + 1 >= *seq;
            let stops = match at {
                Some(at) => due(&self.lanes[at]),
                None => self.lanes.iter().any(due),
            };
            if stops {
                return Err(FleetError::Halted { kind: kind.clone(), seq: *seq });
            }
        }
        match at {
            Some(at) => self.lanes[at].seq += 1,
            None => self.lanes.iter_mut().for_each(|lane| lane.seq += 1),
        }
        Ok(())
    }
}
