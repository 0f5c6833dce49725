//! What a component sends on: the calls to each dependency, and the report to its callers.

use super::serve::{Narrow, Offered, Served, UNCAPPED};
use super::work::Work;
use crate::edge::{EdgeState, EdgeView};
use crate::latency::truncated_mean;
use crate::mmck::IDLE;
use crate::spec::{EdgeKnobs, TierSpec};
use model::{CLASSES_MAX, Calls, EdgePolicy, PerClass, Report};

/// Everything that the calls of one edge follow from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending<'a> {
    pub classes: usize,
    pub offered: &'a Offered,
    pub served: &'a Served,
    /// Served requests per second and class.
    pub per_class: &'a PerClass,
    pub work: &'a Work,
    pub slots: f64,
    /// Mean time that the callers spend on an attempt here, seconds.
    pub heard_s: f64,
    pub dt_s: f64,
}

impl Sending<'_> {
    /// The inbox entry of the callee of edge `k`; moves the edge's leak and its last calls.
    pub(crate) fn calls(
        &self,
        k: usize,
        policy: &EdgePolicy,
        knobs: &EdgeKnobs,
        view: &EdgeView,
        state: &mut EdgeState,
    ) -> Calls {
        let mut rate = [0.0; CLASSES_MAX];
        let (mut busy, mut outside, mut total, mut tried) = (0.0, 0.0, 0.0, 0.0);
        for c in 0..self.classes {
            let v = &view.class[c];
            let per_request = self.work.calls[k][c];
            let calls = self.per_class[c] * per_request;
            let started = calls * view.passed;
            state.calls[c] = started;
            rate[c] = started * v.reaching;
            total += rate[c];
            tried += started * v.attempts;
            let w = &self.work.class[c];
            // Slots at own work or with other dependencies.
            busy += self.per_class[c] * (w.hold_s - per_request * v.per_call_s).max(0.0);
            outside += calls * v.outside_s;
        }
        let pool = policy.pool.as_ref().map(|pool| {
            let lost = knobs.leak * tried * (1.0 - view.pool.refused) * self.dt_s;
            state.leaked = (state.leaked + lost).min(pool.size);
            (pool.size - state.leaked).max(0.0)
        });
        let mut sent = Calls {
            edge: state.sent.edge,
            rate,
            in_flight_cap: pool.unwrap_or(self.slots).min(self.slots),
            elsewhere_s: self.work.own_s,
            timeout_s: view.timeout_s,
            idle: busy,
            deadline: policy.propagate_deadline,
        };
        if total > IDLE {
            sent.in_flight_cap = self.slots;
            sent.elsewhere_s = (busy + outside) / total;
            self.pass_on(total, busy + outside, &mut sent);
            // A connection, unlike a slot, is never elsewhere.
            if let Some(free) = pool
                && free / total < sent.in_flight_cap / total - sent.elsewhere_s
            {
                (sent.in_flight_cap, sent.elsewhere_s, sent.idle) = (free, 0.0, 0.0);
            }
        }
        sent
    }

    /// The cap above may bind first: pass it on.
    fn pass_on(&self, total: f64, elsewhere: f64, sent: &mut Calls) {
        let (o, st) = (self.offered, &self.served.station);
        if !o.is_closed() || o.jobs >= UNCAPPED || st.served <= 0.0 {
            return;
        }
        let beyond = (st.served * o.elsewhere_s + elsewhere) / total;
        // Abandoned requests come on top of the callers' slots.
        let here = st.wait + self.work.hold_s;
        let jobs = o.jobs * (here / self.heard_s.max(1e-9)).max(1.0);
        if jobs / total - beyond < sent.in_flight_cap / total - sent.elsewhere_s {
            sent.in_flight_cap = jobs;
            sent.elsewhere_s = beyond;
            sent.idle += o.idle;
        }
    }
}

/// The dependency that limits this component, in requests of this component.
pub(crate) fn narrowest(
    spec: &TierSpec,
    work: &Work,
    weights: &PerClass,
    views: &[EdgeView],
    states: &[EdgeState],
    reports: &[Report],
) -> Option<Narrow> {
    let mut best: Option<Narrow> = None;
    for (k, edge) in spec.edges.iter().enumerate() {
        let (r, view, state) = (&reports[k], &views[k], &states[k]);
        let (mut calls, mut spent) = (0.0, 0.0);
        for c in 0..usize::from(spec.classes) {
            calls += weights[c] * edge.calls[c];
            spent += weights[c] * work.calls[k][c] * view.class[c].per_call_s;
        }
        if calls < 1e-6 {
            continue;
        }
        // The others leave what they do not use, at least a fair share.
        let others = (r.offered - state.reported).max(0.0);
        let share = if others > 1e-6 * r.offered {
            let fair = state.reported / r.offered;
            (1.0 - others / r.capacity.max(1e-9)).max(fair).max(1e-3)
        } else {
            1.0
        };
        let rate = r.capacity * share / calls;
        if best.as_ref().is_some_and(|b| b.rate <= rate) {
            continue;
        }
        let elsewhere_s = (work.hold_s - spent).max(work.own_s);
        // Errors come however fast the callee is; what is late or refused follows from its load.
        let (tries, backoff_s) = (view.mixed.unloaded_attempts, view.backoff_s);
        best = Some(Narrow {
            edge: k,
            rate,
            servers: r.servers * share,
            places: r.places * share,
            calls,
            unloaded_s: elsewhere_s + calls * (tries * r.unloaded_s + (tries - 1.0) * backoff_s),
            elsewhere_s,
            timeout_s: view.timeout_s,
            attempts: view.mixed.attempts,
        });
    }
    best
}

/// What callers must know to see their own limits: bottleneck rate and its servers, unloaded
/// time, places before a refusal.
pub(crate) fn capacity(
    report: &mut Report,
    narrow: Option<&Narrow>,
    work: &Work,
    slots: f64,
    places: f64,
) {
    let Some(k) = narrow else {
        report.capacity = slots / work.own_s.max(1e-9);
        (report.servers, report.unloaded_s, report.places) = (slots, work.own_s, places);
        return;
    };
    let own = slots / k.unloaded_s.max(1e-9);
    let inner = (slots - k.rate * k.unloaded_s).max(0.0);
    (report.capacity, report.servers) =
        if k.rate < own { (k.rate, k.servers) } else { (own, slots) };
    report.unloaded_s = k.unloaded_s;
    report.places = if inner <= k.places { inner + places } else { k.places };
}

/// The callers' mean time per accepted attempt, cut at their time-out.
pub(crate) fn heard_s(r: &Report, failed: f64, timeout_s: f64) -> f64 {
    let ok = truncated_mean(r.ok_mean_s, r.ok_var_s2, timeout_s);
    if failed <= 0.0 {
        return ok;
    }
    (1.0 - failed) * ok + failed * truncated_mean(r.fail_mean_s, r.fail_var_s2, timeout_s)
}
