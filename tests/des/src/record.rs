//! The slab of requests and users: one record each, reused after its end. A record carries the
//! state of the one call that it may have open; rules live in `call` and `serve`.

use crate::agenda::Instant;

/// The tier of a record that is a user.
pub(crate) const USER: u16 = u16::MAX;

/// Where a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere: the record may be reused.
    Free,
    /// A user, or a request on its way.
    Abroad,
    /// In a queue.
    Queue,
    /// In a slot, at own work or waiting for a call.
    Slot,
}

/// A request at a tier, or a user.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    /// Changes whenever what the record waits for changes; survives reuse.
    pub(crate) stamp: u32,
    /// Who called, and the stamp that the caller had: another one now means it has gone on.
    pub(crate) parent: u32,
    pub(crate) parent_stamp: u32,
    pub(crate) tier: u16,
    pub(crate) class: u16,
    pub(crate) station: u16,
    pub(crate) group: u16,
    /// Edges begun; the open call is on the one before.
    pub(crate) edges_begun: u16,
    /// Retries of the open call so far.
    pub(crate) retries: u16,
    /// Further calls on the same edge.
    pub(crate) calls_left: u32,
    pub(crate) connected: bool,
    pub(crate) place: Place,
    /// Arrival of a user, or of a request at its tier.
    pub(crate) since: Instant,
    pub(crate) deadline: Instant,
}

/// All records.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    records: Vec<Record>,
    free: Vec<u32>,
}

impl Slab {
    /// A fresh record of `class` at `tier`.
    pub(crate) fn insert(
        &mut self,
        tier: u16,
        class: u16,
        since: Instant,
        deadline: Instant,
    ) -> u32 {
        let mut record = Record {
            stamp: 0,
            parent: u32::MAX,
            parent_stamp: 0,
            tier,
            class,
            station: 0,
            group: 0,
            edges_begun: 0,
            retries: 0,
            calls_left: 0,
            connected: false,
            place: Place::Abroad,
            since,
            deadline,
        };
        if let Some(id) = self.free.pop() {
            record.stamp = self.records[id as usize].stamp;
            self.records[id as usize] = record;
            id
        } else {
            self.records.push(record);
            (self.records.len() - 1) as u32
        }
    }

    /// Ends a record: all events and replies for it are stale from now on.
    pub(crate) fn remove(&mut self, id: u32) {
        self.touch(id);
        self.records[id as usize].place = Place::Free;
        self.free.push(id);
    }

    /// Makes all earlier events and replies for a record stale; returns its new stamp.
    pub(crate) fn touch(&mut self, id: u32) -> u32 {
        let record = &mut self.records[id as usize];
        record.stamp = record.stamp.wrapping_add(1);
        record.stamp
    }

    /// Is `stamp` the present one of a record?
    pub(crate) fn is_current(&self, id: u32, stamp: u32) -> bool {
        self.records.get(id as usize).is_some_and(|record| record.stamp == stamp)
    }

    /// The records in the slots of a tier.
    pub(crate) fn in_slots(&self, tier: u16) -> impl Iterator<Item = u32> + '_ {
        let here = move |r: &Record| r.place == Place::Slot && r.tier == tier;
        (0_u32..).zip(&self.records).filter(move |(_, r)| here(r)).map(|(id, _)| id)
    }
}

impl std::ops::Index<u32> for Slab {
    type Output = Record;

    fn index(&self, id: u32) -> &Record {
        &self.records[id as usize]
    }
}

impl std::ops::IndexMut<u32> for Slab {
    fn index_mut(&mut self, id: u32) -> &mut Record {
        &mut self.records[id as usize]
    }
}
