//! The station under the attempts of all callers, within their in-flight caps.
//!
//! A caller whose cap cannot bind is open load. The others are solved together: as a closed
//! network where their slots fill before their time-out, else by a bracketed solve.

use super::groups::Groups;
use super::work::Work;
use crate::balance::{Balance, balanced};
use crate::latency::truncated_mean;
use crate::mmck::{IDLE, Station};
use crate::network::{capped, in_time, limited, network_throughput};
use crate::queue::relax;
use model::{CLASSES_MAX, Calls, PerClass};

/// Caps at or above this are none.
pub(crate) const UNCAPPED: f64 = 1e9;

/// The bottleneck among the dependencies, in requests of this component.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Narrow {
    /// Its position among the edges.
    pub edge: usize,
    /// Throughput it leaves for this component, requests per second.
    pub rate: f64,
    /// Its servers.
    pub servers: f64,
    /// Places before it refuses.
    pub places: f64,
    /// Calls per request.
    pub calls: f64,
    /// Own work, other dependencies, and the way through it, nothing waiting, seconds per request.
    pub unloaded_s: f64,
    /// Own work and other dependencies, seconds per request.
    pub elsewhere_s: f64,
    /// The caller's time-out there, attempts per call.
    pub timeout_s: f64,
    pub attempts: f64,
}

/// Attempts of all callers together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Offered {
    /// Attempts per second and class, those turned away left out.
    pub rate: PerClass,
    pub total: f64,
    /// Attempts that are turned away.
    pub turned_away: f64,
    /// Of callers whose cap cannot bind.
    pub open: f64,
    /// Of the others: attempts, jobs (ΣN), time elsewhere, time-out, busy with own work.
    pub closed: f64,
    pub jobs: f64,
    pub elsewhere_s: f64,
    pub idle: f64,
    pub timeout_s: f64,
    /// Most attempts carry a deadline; the nearest mean of it.
    pub deadline: bool,
    pub deadline_s: f64,
}

/// What the station did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Served {
    /// Attempts per second that arrived (the callers' caps may hold some back).
    pub arrived: f64,
    /// Its refused are those whose deadline passes while they wait: callers wait for them.
    pub expiring: bool,
    pub station: Station,
}

/// The station's fixed data in a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage<'a> {
    pub work: &'a Work,
    pub narrow: Option<Narrow>,
    pub slots: f64,
    pub groups: Groups,
    pub balance: Balance,
    pub places: f64,
    pub queue: f64,
    pub dt_s: f64,
}

/// Throughput, slots busy unloaded, slots beyond: a component whose slots fill below it first.
#[derive(Clone, Copy, Debug)]
struct SlotsFirst {
    rate: f64,
    busy: f64,
    beyond: f64,
}

impl Offered {
    /// Sums the calls of all edges; `refuse` is the share of each class turned away.
    pub(crate) fn gather(calls: &[Calls], classes: usize, refuse: &PerClass) -> Offered {
        let mut o = Offered { timeout_s: 1e12, deadline_s: 1e12, ..Offered::default() };
        let (mut deadline, mut until) = (0.0, 0.0);
        for call in calls {
            let mut mine = 0.0;
            for c in 0..classes {
                let kept = call.rate[c] * (1.0 - refuse[c]);
                o.rate[c] += kept;
                o.turned_away += call.rate[c] - kept;
                mine += kept;
            }
            o.total += mine;
            if call.deadline {
                deadline += mine;
                until += mine * call.timeout_s;
            }
        }
        o.deadline = deadline > 0.5 * o.total && deadline > 0.0;
        if o.deadline {
            o.deadline_s = until / deadline;
        }
        o
    }

    /// Parts open from closed callers; `bound_s` is the longest time an attempt can spend here.
    pub(crate) fn part(
        &mut self,
        calls: &[Calls],
        classes: usize,
        refuse: &PerClass,
        bound_s: f64,
    ) {
        let (mut timed, mut elsewhere, mut patience) = (0.0, 0.0, 0.0);
        for call in calls {
            let mine: f64 = (0..classes).map(|c| call.rate[c] * (1.0 - refuse[c])).sum();
            let longest = call.elsewhere_s + bound_s.min(call.timeout_s);
            let binds = calls.len() == 1 || mine * longest >= call.in_flight_cap;
            patience += mine * call.timeout_s;
            if call.in_flight_cap < UNCAPPED && binds && mine > 0.0 {
                self.closed += mine;
                self.jobs += call.in_flight_cap;
                self.idle += call.idle;
                elsewhere += mine * call.elsewhere_s;
                timed += mine * call.timeout_s;
            } else {
                self.open += mine;
            }
        }
        if self.closed > 0.0 {
            self.elsewhere_s = elsewhere / self.closed;
            self.timeout_s = timed / self.closed;
        } else {
            self.jobs = 1e12;
            self.timeout_s = if self.total > IDLE { patience / self.total } else { 1e12 };
        }
    }

    /// Shares of the classes; equal ones when nothing arrives.
    pub(crate) fn weights(&self, classes: usize) -> PerClass {
        let mut w = [0.0; CLASSES_MAX];
        for (c, share) in w.iter_mut().enumerate().take(classes) {
            *share =
                if self.total > IDLE { self.rate[c] / self.total } else { 1.0 / classes as f64 };
        }
        w
    }

    /// All load comes from callers whose cap may bind.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed > 0.0 && self.open <= 1e-6 * self.closed
    }
}

impl Stage<'_> {
    fn free_rate(&self) -> f64 {
        self.slots / self.work.hold_s.max(1e-9)
    }

    /// Do the slots fill because of the bottleneck below, before its queue does, and in time?
    fn slots_first(&self) -> Option<SlotsFirst> {
        let k = self.narrow.as_ref()?;
        let visit = k.servers / k.rate.max(1e-9);
        let delay = (k.unloaded_s - visit).max(0.0);
        let rate = network_throughput(self.slots, delay, k.servers, k.rate).max(1e-9);
        let busy = rate * k.unloaded_s;
        let beyond = (self.slots - busy).max(0.0);
        if beyond > k.places || k.attempts >= 1.5 {
            return None;
        }
        let room = (self.slots / rate - k.elsewhere_s) / k.calls;
        let fits = in_time(room, rate * k.calls, visit / k.calls, k.timeout_s);
        fits.then_some(SlotsFirst { rate, busy, beyond })
    }

    /// The station when `x` attempts per second arrive.
    fn at(&self, x: f64, first: Option<SlotsFirst>, rate: f64, patience: f64) -> Station {
        if let Some(f) = first {
            let st = limited(x, f.rate, f.busy, f.beyond, self.places);
            return relax(st, x, rate, self.places, self.queue, self.dt_s);
        }
        let places = self.places.min(patience);
        let queue = self.queue.min(patience);
        let (how, cs2, slots) = (self.balance, self.work.cs2, self.slots);
        let st = if self.groups.apart(how) {
            self.groups.stations(x, (slots, places), how, 1.0)
        } else {
            balanced(x, rate, slots, places, self.groups.running, how, cs2)
        };
        relax(st, x, rate, places, queue, self.dt_s)
    }

    /// A caller's mean time per attempt; refused ones take none, expired ones all they have.
    fn time_s(&self, st: &Station, timeout_s: f64, expiring: bool) -> f64 {
        let w = self.work;
        let ok = truncated_mean(st.wait + w.ok_s, st.wait_var + w.ok_var, timeout_s);
        let failed = if w.failed > 0.0 {
            truncated_mean(st.wait + w.fail_s, st.wait_var + w.fail_var, timeout_s)
        } else {
            0.0
        };
        let lost = if expiring { st.refused * timeout_s } else { 0.0 };
        ((1.0 - w.failed) * ok + w.failed * failed) * (1.0 - st.refused) + lost
    }

    /// Everything of the round: throughput, refusals, queue.
    pub(crate) fn serve(&self, o: &Offered) -> Served {
        let first = self.slots_first();
        let rate = first.map_or(self.free_rate(), |f| f.rate);
        let patience = if o.deadline { rate * o.deadline_s } else { 1e12 };
        let (total, expiring) = (o.total, patience < self.places);
        let slack = self.queue < 1.0
            && total < 0.6 * rate
            && 2.0 * o.closed * (o.elsewhere_s + self.work.hold_s) < o.jobs;
        if o.closed <= 0.0 || slack {
            let station = self.at(total, first, rate, patience);
            return Served { arrived: total, expiring, station };
        }
        self.within_caps(o, first, rate, patience)
    }

    fn within_caps(
        &self,
        o: &Offered,
        first: Option<SlotsFirst>,
        rate: f64,
        patience: f64,
    ) -> Served {
        // More waiting than the callers have slots: that is abandoned work, no network.
        let network = self.queue <= o.jobs;
        let never_full = o.is_closed() && o.jobs - o.idle < self.slots + self.places;
        let left = self.left_for_closed(o, rate);
        let below = self.narrow.as_ref().map_or(f64::INFINITY, |k| k.rate * left / rate);
        let tight = left.min(below);
        let room = o.jobs / tight.max(1e-9) - o.elsewhere_s;
        let (x, mut st);
        if network && never_full && in_time(room, tight, self.work.hold_s, o.timeout_s) {
            x = self.network(o, first, left);
            st = self.at(o.open + x, first, rate, patience);
        } else {
            x = capped(o.closed, o.jobs, o.elsewhere_s, o.timeout_s, |x| {
                let st = self.at(o.open + x, first, rate, patience);
                self.time_s(&st, o.timeout_s, patience < self.places)
            });
            st = self.at(o.open + x, first, rate, patience);
        }
        if network && x > 0.0 {
            self.little(o, x, left, rate, never_full, &mut st);
        }
        Served { arrived: o.open + x, expiring: patience < self.places, station: st }
    }

    /// What open load leaves to the closed callers: the rest, at least their fair share.
    fn left_for_closed(&self, o: &Offered, rate: f64) -> f64 {
        if o.is_closed() {
            return rate;
        }
        (rate - o.open).max(rate * o.closed / o.total.max(1e-12))
    }

    /// Attempts per second of the closed callers, as a closed network.
    fn network(&self, o: &Offered, first: Option<SlotsFirst>, left: f64) -> f64 {
        if first.is_some() {
            return o.closed.min(left);
        }
        let share = left / self.free_rate().max(1e-9);
        match &self.narrow {
            None => {
                let servers = self.slots * share;
                o.closed.min(network_throughput(o.jobs, o.elsewhere_s, servers, left))
            }
            Some(k) if k.attempts < 1.05 => {
                let rate = k.rate * share;
                let inner = o.jobs - rate * (o.elsewhere_s + k.unloaded_s);
                if inner > k.places {
                    return o.closed;
                }
                let visit = k.servers / k.rate.max(1e-9);
                let delay = o.elsewhere_s + (k.unloaded_s - visit).max(0.0);
                o.closed.min(network_throughput(o.jobs, delay, k.servers * share, rate))
            }
            Some(_) => o.closed,
        }
    }

    /// Little's law on the callers' slots: no attempt can be here longer than they last.
    fn little(
        &self,
        o: &Offered,
        x: f64,
        left: f64,
        rate: f64,
        never_full: bool,
        st: &mut Station,
    ) {
        let kept = 1.0 - st.refused;
        let through = (x * kept).min(left).max(1e-9);
        let room = o.jobs / through - o.elsewhere_s / (kept + 1e-9);
        if !in_time(room, rate, self.work.hold_s, o.timeout_s) {
            return;
        }
        if never_full {
            st.refused = 0.0;
            st.served = x.min(rate);
        }
        let ok_s = self.work.ok_s;
        if st.wait + ok_s > room || (o.is_closed() && x < 0.999 * o.closed) {
            let wait = (room - ok_s).max(0.0);
            let ratio = (wait / st.wait.max(1e-12)).min(3.0);
            st.wait_var *= ratio * ratio;
            st.wait = wait;
            st.queue = wait * st.served;
        }
    }
}
