//! The caller's side: calls one after the other, attempts, time-outs, retries. A user calls in the
//! same way as a request does.

use crate::agenda::{Kind, NEVER};
use crate::record::USER;
use crate::sim::World;

/// How an attempt that failed ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    Aborted,
    Error,
    NoConnection,
    Refused,
    TimedOut,
}

/// What became of an attempt to call.
enum Begun {
    /// The caller waits: for an answer, a connection or a pause.
    Waits,
    /// The attempt is over already, and it failed.
    Failed,
    /// The call may not be made (breaker, deadline).
    Barred,
}

impl World<'_> {
    /// Goes on with a caller's calls until it waits for one or all are done.
    pub(crate) fn proceed(&mut self, id: u32) {
        while let Some(edge) = self.next_call(id) {
            if self.call(id, edge) {
                return;
            }
            self.edges[edge].row.failed += 1;
            if !self.edges[edge].optional {
                return self.conclude(id, false);
            }
        }
        self.conclude(id, true);
    }

    /// The callee has answered in time.
    pub(crate) fn answered(&mut self, id: u32, good: bool) {
        if good {
            self.end_attempt(id, None);
            self.proceed(id);
        } else {
            self.failed(id, Failure::Error);
        }
    }

    /// The open attempt has failed: again, or the call fails.
    pub(crate) fn failed(&mut self, id: u32, failure: Failure) {
        let edge = self.open_edge(id);
        self.end_attempt(id, Some(failure));
        let waits = match self.again(id, edge) {
            Begun::Waits => true,
            Begun::Failed => self.call(id, edge),
            Begun::Barred => false,
        };
        if !waits {
            self.call_failed(id, edge);
        }
    }

    /// The pause before a retry is over.
    pub(crate) fn retry(&mut self, id: u32) {
        let edge = self.open_edge(id);
        if !self.call(id, edge) {
            self.call_failed(id, edge);
        }
    }

    /// The open call has failed for good, after its caller had to wait.
    fn call_failed(&mut self, id: u32, edge: usize) {
        self.edges[edge].row.failed += 1;
        if self.edges[edge].optional {
            self.proceed(id);
        } else {
            self.conclude(id, false);
        }
    }

    /// A connection has come: the attempt that waited for it begins.
    pub(crate) fn connected(&mut self, id: u32) {
        let edge = self.open_edge(id);
        if let Err(failure) = self.launch(id, edge) {
            self.failed(id, failure);
        }
    }

    /// The edge of the open call.
    fn open_edge(&self, id: u32) -> usize {
        let record = &self.slab[id];
        if record.tier == USER {
            return self.entry(record.class);
        }
        self.tiers[usize::from(record.tier)].edges.start + usize::from(record.edges_begun) - 1
    }

    /// Opens the next call, if there is one.
    fn next_call(&mut self, id: u32) -> Option<usize> {
        let record = &mut self.slab[id];
        loop {
            if record.calls_left > 0 {
                record.calls_left -= 1;
                record.retries = 0;
                let edge = self.open_edge(id);
                self.edges[edge].row.calls += 1;
                return Some(edge);
            }
            if record.tier == USER {
                return None;
            }
            let edges = &self.tiers[usize::from(record.tier)].edges;
            let next = edges.start + usize::from(record.edges_begun);
            if next >= edges.end {
                return None;
            }
            record.edges_begun += 1;
            record.calls_left = self.edges[next].draw_calls(record.class);
        }
    }

    /// Makes attempts until the caller waits (true) or the call has failed (false).
    fn call(&mut self, id: u32, edge: usize) -> bool {
        loop {
            match self.attempt(id, edge) {
                Begun::Waits => return true,
                Begun::Barred => return false,
                Begun::Failed => match self.again(id, edge) {
                    Begun::Waits => return true,
                    Begun::Barred => return false,
                    Begun::Failed => {}
                },
            }
        }
    }

    /// Asks the guards of the edge, gets a connection and sends.
    fn attempt(&mut self, id: u32, edge: usize) -> Begun {
        let deadline = self.slab[id].deadline;
        let state = &mut self.edges[edge];
        if deadline <= self.now {
            state.row.late += 1;
            return Begun::Barred;
        }
        if state.breaker.as_mut().is_some_and(|breaker| !breaker.admits(self.now)) {
            state.row.rejected += 1;
            return Begun::Barred;
        }
        state.row.attempts += 1;
        let stamp = self.slab.touch(id);
        if let Some(pool) = &mut state.pool {
            if pool.in_use >= pool.size {
                pool.waiting.push_back((id, stamp));
                let until = self.now.saturating_add(pool.acquire).min(deadline);
                self.agenda.push(until, Kind::NoConnection, id, stamp);
                return Begun::Waits;
            }
            pool.in_use += 1;
            self.slab[id].connected = true;
        }
        match self.launch(id, edge) {
            Ok(()) => Begun::Waits,
            Err(failure) => {
                self.end_attempt(id, Some(failure));
                Begun::Failed
            }
        }
    }

    /// Sends the request. An error: it was answered at once.
    fn launch(&mut self, id: u32, edge: usize) -> Result<(), Failure> {
        let stamp = self.slab.touch(id);
        let (class, mut until) = (self.slab[id].class, self.slab[id].deadline);
        let state = &mut self.edges[edge];
        if state.rng.chance(state.abort) {
            return Err(Failure::Aborted);
        }
        until = until.min(self.now.saturating_add(state.timeout));
        if state.rng.chance(state.loss) {
            state.row.lost += 1;
        } else {
            let deadline = if state.deadline { until } else { NEVER };
            let (to, delay) = (state.to, state.delay);
            let child = self.slab.insert(to, class, self.now, deadline);
            self.slab[child].parent = id;
            self.slab[child].parent_stamp = stamp;
            if delay > 0 {
                let there = self.now + delay;
                self.agenda.push(there, Kind::Inbound, child, self.slab[child].stamp);
            } else if !self.arrive(child) {
                return Err(Failure::Refused);
            }
        }
        if until != NEVER {
            self.agenda.push(until, Kind::TimedOut, id, stamp);
        }
        Ok(())
    }

    /// A request that was under way reaches its tier.
    pub(crate) fn inbound(&mut self, id: u32) {
        let (parent, stamp) = (self.slab[id].parent, self.slab[id].parent_stamp);
        if !self.arrive(id) && self.slab.is_current(parent, stamp) {
            self.failed(parent, Failure::Refused);
        }
    }

    /// After a failed attempt: `Failed` means try again at once, `Barred` never.
    fn again(&mut self, id: u32, edge: usize) -> Begun {
        let record = &mut self.slab[id];
        let state = &mut self.edges[edge];
        if record.retries >= state.retries {
            return Begun::Barred;
        }
        let pause = state.draw_pause();
        if record.deadline != NEVER && self.now + pause >= record.deadline {
            state.row.late += 1;
            return Begun::Barred;
        }
        if !state.take_token() {
            return Begun::Barred;
        }
        record.retries += 1;
        state.row.retries += 1;
        if pause == 0 {
            return Begun::Failed;
        }
        let stamp = self.slab.touch(id);
        self.agenda.push(self.now + pause, Kind::BackedOff, id, stamp);
        Begun::Waits
    }

    /// The open attempt is over: its timer is void, its connection free.
    fn end_attempt(&mut self, id: u32, failure: Option<Failure>) {
        let edge = self.open_edge(id);
        self.slab.touch(id);
        let state = &mut self.edges[edge];
        state.outcome(self.now, failure.is_none());
        match failure {
            None => {}
            Some(Failure::Aborted) => state.row.aborted += 1,
            Some(Failure::Error) => state.row.errors += 1,
            Some(Failure::NoConnection) => state.row.unconnected += 1,
            Some(Failure::Refused) => state.row.refused += 1,
            Some(Failure::TimedOut) => state.row.timed_out += 1,
        }
        if std::mem::take(&mut self.slab[id].connected)
            && let Some(next) = state.release(&self.slab)
        {
            // As an event of its own: a chain of refusals must not become a chain of calls here.
            let stamp = self.slab.touch(next);
            self.slab[next].connected = true;
            self.agenda.push(self.now, Kind::Connected, next, stamp);
        }
    }

    /// All calls are done, or one has failed.
    fn conclude(&mut self, id: u32, good: bool) {
        if self.slab[id].tier == USER {
            self.user_leaves(id, good);
        } else {
            self.answer(id, good);
        }
    }
}
