//! The callee's side: how a request gets a place and a slot, works, and is answered. Its calls to
//! other tiers are in `call`.

use crate::agenda::{Kind, seconds};
use crate::record::Place;
use crate::sim::World;

impl World<'_> {
    /// A request reaches its tier. False: refused, and the record is gone.
    pub(crate) fn arrive(&mut self, id: u32) -> bool {
        let tier = &mut self.tiers[usize::from(self.slab[id].tier)];
        tier.row.arrived += 1;
        let Some(chosen) = tier.choose() else {
            return self.refuse(id);
        };
        let station = &tier.stations[usize::from(chosen)];
        let (free, room) = (station.busy < station.slots, station.queue.len());
        let room = room < station.places as usize;
        let record = &mut self.slab[id];
        record.station = chosen;
        record.since = self.now;
        if free {
            self.start(id);
        } else if room {
            record.place = Place::Queue;
            tier.enqueue(chosen, id, self.now);
        } else {
            return self.refuse(id);
        }
        true
    }

    fn refuse(&mut self, id: u32) -> bool {
        self.tiers[usize::from(self.slab[id].tier)].row.refused += 1;
        self.slab.remove(id);
        false
    }

    /// A request takes a slot, unless its deadline has passed. In that case its caller has given up
    /// at that instant: no one waits for an answer.
    fn start(&mut self, id: u32) {
        let record = &mut self.slab[id];
        let tier = &mut self.tiers[usize::from(record.tier)];
        if record.deadline <= self.now {
            tier.row.expired += 1;
            self.slab.remove(id);
            return;
        }
        tier.row.started += 1;
        tier.row.waited += seconds(self.now - record.since);
        record.group = tier.occupy(record.station, self.now);
        record.place = Place::Slot;
        let done = self.now + tier.draw_work(record.class, record.group);
        self.agenda.push(done, Kind::WorkDone, id, record.stamp);
    }

    /// Fills the free slots of a station from its queue.
    pub(crate) fn dispatch(&mut self, tier: u16, station: u16) {
        loop {
            let state = &mut self.tiers[usize::from(tier)];
            let here = &state.stations[usize::from(station)];
            if here.busy >= here.slots {
                return;
            }
            let Some(id) = state.dequeue(station, self.now) else {
                return;
            };
            self.start(id);
        }
    }

    /// Own work is done: an own error, or on to the calls.
    pub(crate) fn work_done(&mut self, id: u32) {
        self.slab.touch(id);
        let record = &self.slab[id];
        let tier = &mut self.tiers[usize::from(record.tier)];
        if tier.draw_error(record.class, record.group) {
            tier.row.own_errors += 1;
            self.answer(id, false);
        } else {
            self.proceed(id);
        }
    }

    /// A request ends: its slot is free again, and its caller gets the answer if it still waits.
    pub(crate) fn answer(&mut self, id: u32, good: bool) {
        let record = self.slab[id];
        self.slab.remove(id);
        let heard = self.slab.is_current(record.parent, record.parent_stamp);
        let tier = &mut self.tiers[usize::from(record.tier)];
        tier.row.served += 1;
        tier.row.failed += u64::from(!good);
        tier.row.wasted += u64::from(!heard);
        tier.row.stayed += seconds(self.now - record.since);
        tier.vacate(record.station, record.group, self.now);
        self.dispatch(record.tier, record.station);
        if heard {
            self.answered(record.parent, good);
        }
    }
}
