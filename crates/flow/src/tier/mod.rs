//! The core of every component that serves requests: one station, its queue, its edges.
//!
//! A round reads the calls of its callers and the reports of its dependencies, all of the round
//! before, and says what it serves, what it sends on, and what its callers see. A round whose
//! inputs are those of the last one, with a state at rest, costs a comparison.

mod groups;
mod memo;
mod send;
mod serve;
mod swing;
mod work;

use crate::balance::Balance;
use crate::edge::{EdgeState, EdgeView, Look};
use crate::spec::{CALM_EDGE, Knobs, TierSpec};
use groups::Groups;
use memo::{Memo, settle_calls, settle_report};
use model::{CLASSES_MAX, Calls, GROUPS_MAX, Motion, PerClass, Report};
use send::{Sending, capacity, heard_s, narrowest};
use serde::{Deserialize, Serialize};
use serve::{Narrow, Offered, Served, Stage};
pub use swing::Swing;
use work::Work;

/// State of one component: everything that a snapshot must keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TierCore {
    /// Requests that wait.
    pub queue: f64,
    /// What callers see.
    pub report: Report,
    /// How much that swings.
    pub swing: Swing,
    /// One per edge.
    pub edges: Vec<EdgeState>,
}

/// State of one component and its buffers. Only [`TierCore`] is serialized; the rest is
/// recomputed by the next round, bit for bit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TierState {
    /// What a snapshot keeps.
    pub core: TierCore,
    #[serde(skip)]
    memo: Memo,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    repeated: bool,
    /// What the last round did: components read it before the next one.
    round: Round,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    views: Vec<EdgeView>,
    work: Work,
}

/// What happened on one edge in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EdgeRound {
    /// Failed share of first attempts, 0–1.
    pub first_failure: f64,
    /// Failed share of later attempts, 0–1.
    pub later_failure: f64,
    /// Failed share of calls, 0–1.
    pub failed: f64,
    /// Attempts per call.
    pub attempts: f64,
    /// Share of calls that the breaker lets through.
    pub passed: f64,
    /// Calls per second started.
    pub calls: f64,
    /// Mean time of a call that succeeds, seconds.
    pub ok_s: f64,
    /// Time-outs among accepted attempts, 0–1.
    pub late: f64,
    /// Connections in use, leaked ones included.
    pub in_use: f64,
    /// Attempts that wait for a connection.
    pub waiting: f64,
    /// Share of attempts that get no connection, 0–1.
    pub no_connection: f64,
    /// Share of wanted retries that the budget grants, 0–1.
    pub granted: f64,
}

/// What a component did in a round. Rates per second, times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Attempts that callers want to bring, those turned away left out.
    pub offered: f64,
    /// ... and those that arrive: callers' in-flight caps may hold some back.
    pub arrived: f64,
    /// Attempts turned away before they take a slot.
    pub turned_away: f64,
    /// Requests served (well or badly).
    pub served: f64,
    /// Requests served by class.
    pub class_served: PerClass,
    /// Share of the requests that each replica group works on.
    pub group_share: [f64; GROUPS_MAX],
    /// Attempts refused by a full queue.
    pub refused: f64,
    /// Requests waiting at the end.
    pub queue: f64,
    /// Mean wait of accepted attempts.
    pub wait_s: f64,
    /// Its variance.
    pub wait_var_s2: f64,
    /// Slots busy.
    pub busy_slots: f64,
    /// Cores busy with own work.
    pub cpu_cores: f64,
    /// Share of served requests that failed by an own error, 0–1.
    pub own_error: f64,
    /// Share of served requests that failed for any reason, 0–1.
    pub failed: f64,
    /// One per edge.
    pub edges: Vec<EdgeRound>,
    /// Calls to the dependencies, in edge order.
    pub calls: Vec<Calls>,
    /// The report that callers see.
    pub report: Report,
    /// How much it moves.
    pub motion: Motion,
}

impl Default for Round {
    fn default() -> Self {
        Round {
            offered: 0.0,
            arrived: 0.0,
            turned_away: 0.0,
            served: 0.0,
            class_served: [0.0; CLASSES_MAX],
            group_share: [0.0; GROUPS_MAX],
            refused: 0.0,
            queue: 0.0,
            wait_s: 0.0,
            wait_var_s2: 0.0,
            busy_slots: 0.0,
            cpu_cores: 0.0,
            own_error: 0.0,
            failed: 0.0,
            edges: Vec::new(),
            calls: Vec::new(),
            report: Report::IDEAL,
            motion: Motion::default(),
        }
    }
}

impl TierState {
    /// A component that has just started and serves nobody yet.
    pub fn new(spec: &TierSpec) -> TierState {
        let core = TierCore {
            queue: 0.0,
            report: unloaded(spec),
            swing: Swing::default(),
            edges: spec.edges.iter().map(|e| EdgeState::new(e.id)).collect(),
        };
        TierState {
            core,
            memo: Memo::default(),
            scratch: Scratch::default(),
            repeated: false,
            round: Round::default(),
        }
    }

    /// What the last round did.
    pub fn last(&self) -> &Round {
        &self.round
    }

    /// Whether the last round had the inputs of the one before and changed nothing.
    pub fn repeated(&self) -> bool {
        self.repeated
    }

    /// Drops everything that waits; callers forget the latency that went with it.
    pub fn flush(&mut self, spec: &TierSpec) {
        let old = self.core.report;
        self.core.queue = 0.0;
        // Failures and refusals are not the queue's: they are measured anew, not forgotten.
        self.core.report = Report {
            failed: old.failed,
            overdue: old.overdue,
            turned_away: old.turned_away,
            ..unloaded(spec)
        };
        self.memo.forget();
    }

    /// Replicas came or went by themselves: latencies that swing with them are real, not values
    /// that are one round old, and are not to be damped.
    pub fn excuse_swing(&mut self) {
        self.core.swing.excuse();
        self.memo.forget();
    }

    /// The processes start anew: queue, latencies, pools, breakers and budgets are gone.
    pub fn restart(&mut self, spec: &TierSpec) {
        let sent: Vec<Calls> = self.core.edges.iter().map(|e| e.sent).collect();
        self.core = TierState::new(spec).core;
        for (edge, sent) in self.core.edges.iter_mut().zip(sent) {
            edge.reported = sent.rate.iter().sum();
            edge.sent = sent;
        }
        self.memo.forget();
    }

    /// Gives back the share `share` of the leaked connections of edge `at` (1: all).
    pub fn reset_pool(&mut self, at: usize, share: f64) {
        if let Some(edge) = self.core.edges.get_mut(at) {
            edge.leaked *= 1.0 - share.clamp(0.0, 1.0);
        }
        self.memo.forget();
    }

    /// One round of `dt_s` seconds: `calls` from all callers in edge order, `reports` of the
    /// dependencies in the order of the specification (a missing one is ideal).
    pub fn round(
        &mut self,
        spec: &TierSpec,
        knobs: &Knobs,
        calls: &[Calls],
        reports: &[Report],
        dt_s: f64,
    ) -> &Round {
        self.repeated = self.memo.at_rest(spec, knobs, calls, reports, dt_s);
        if self.repeated {
            return &self.round;
        }
        self.memo.before(&self.core);
        self.compute(spec, knobs, calls, reports, dt_s);
        self.memo.after(&self.core, spec, knobs, calls, reports, dt_s);
        &self.round
    }

    fn compute(
        &mut self,
        spec: &TierSpec,
        knobs: &Knobs,
        calls: &[Calls],
        reports: &[Report],
        dt_s: f64,
    ) {
        let classes = usize::from(spec.classes).clamp(1, CLASSES_MAX);
        let mut groups = Groups::of(knobs);
        let slots = groups.running * knobs.concurrency.unwrap_or(spec.concurrency);
        let places = groups.running * knobs.queue.unwrap_or(spec.queue);
        let mut offered = Offered::gather(calls, classes, &knobs.refuse);
        let weights = offered.weights(classes);
        let deadline = offered.deadline.then_some(offered.deadline_s);
        self.look(spec, knobs, reports, deadline, dt_s);
        let Scratch { views, work } = &mut self.scratch;
        work.fill(spec, knobs, groups, views, &weights);
        if groups.uneven {
            let per_replica = slots / groups.running;
            let own_s = work.cpu_s / groups.slow;
            let rest_s = work.hold_s - work.cpu_s;
            groups.reweigh(spec, offered.total, per_replica, own_s, rest_s);
            work.fill(spec, knobs, groups, views, &weights);
        }
        if slots <= 1e-9 {
            self.stopped(spec, &offered, calls);
            return;
        }
        let bound_s = work.hold_s * (1.0 + (places + 1.0) / slots);
        offered.part(calls, classes, &knobs.refuse, bound_s);
        let narrow = narrowest(spec, work, &weights, views, &self.core.edges, reports);
        let stage = Stage {
            work,
            narrow,
            slots,
            groups,
            balance: spec.balance,
            places,
            queue: self.core.queue,
            dt_s,
        };
        let served = stage.serve(&offered);
        self.core.queue = served.station.queue;
        self.round.group_share = groups.share;
        let fresh = self.fresh_report(spec, knobs, &offered, &served, (slots, places), narrow);
        self.send(spec, knobs, &offered, &served, &fresh, slots, dt_s);
        self.note(&offered, &served, classes);
        settle_report(&mut self.core.report, &fresh, classes, self.core.swing.weight());
        self.core.swing.note(self.core.report.ok_mean_s, dt_s);
        self.finish(&offered);
    }

    /// Looks at every dependency.
    fn look(
        &mut self,
        spec: &TierSpec,
        knobs: &Knobs,
        reports: &[Report],
        deadline_s: Option<f64>,
        dt_s: f64,
    ) {
        self.scratch.views.resize(spec.edges.len(), EdgeView::default());
        // Edges come and go with the specification only.
        while self.core.edges.len() < spec.edges.len() {
            self.core.edges.push(EdgeState::new(spec.edges[self.core.edges.len()].id));
        }
        self.core.edges.truncate(spec.edges.len());
        let slow = Groups::of(knobs).slow;
        let mut left = deadline_s.map(|d| d - spec.service_s * slow);
        for (k, edge) in spec.edges.iter().enumerate() {
            let state = &mut self.core.edges[k];
            let edge_knobs = knobs.edges.get(k).unwrap_or(&CALM_EDGE);
            let calls = state.calls;
            let used = calls.iter().sum::<f64>() > 1e-9;
            let view = state.look(&Look {
                policy: edge_knobs.policy.as_ref().unwrap_or(&edge.policy),
                knobs: edge_knobs,
                report: reports.get(k).unwrap_or(&Report::IDEAL),
                classes: usize::from(spec.classes),
                weights: if used { &calls } else { &edge.calls },
                deadline_s: left,
                dt_s,
            });
            left = left.map(|l| l - view.mixed.ok_s);
            self.scratch.views[k] = view;
        }
    }

    /// Nothing runs: every attempt is refused at once and nothing is sent on.
    fn stopped(&mut self, spec: &TierSpec, offered: &Offered, calls: &[Calls]) {
        let arriving: f64 = calls.iter().map(|c| c.rate.iter().sum::<f64>()).sum();
        let fresh = Report { refused: 1.0, offered: arriving, ..unloaded(spec) };
        self.core.queue = 0.0;
        self.round.calls.clear();
        for edge in &mut self.core.edges {
            edge.calls = [0.0; CLASSES_MAX];
            edge.reported = edge.sent.rate.iter().sum();
            edge.sent = Calls::none(edge.sent.edge);
            self.round.calls.push(edge.sent);
        }
        let served = Served { arrived: offered.total, ..Served::default() };
        self.note(offered, &served, usize::from(spec.classes));
        self.round.refused = offered.total;
        settle_report(&mut self.core.report, &fresh, usize::from(spec.classes), swing::WEIGHT);
        self.finish(offered);
    }

    fn fresh_report(
        &self,
        spec: &TierSpec,
        knobs: &Knobs,
        offered: &Offered,
        served: &Served,
        (slots, places): (f64, f64),
        narrow: Option<Narrow>,
    ) -> Report {
        let (work, st) = (&self.scratch.work, &served.station);
        let mut r = Report {
            ok_mean_s: st.wait + work.ok_s,
            ok_var_s2: st.wait_var + work.ok_var,
            fail_mean_s: st.wait + work.fail_s,
            fail_var_s2: st.wait_var + work.fail_var,
            refused: st.refused,
            turned_away: knobs.refuse,
            offered: offered.total + offered.turned_away,
            ..Report::IDEAL
        };
        if matches!(spec.balance, Balance::Random | Balance::RoundRobin) {
            // A retry draws another replica: only one refusal in so many meets the same queue.
            let again = st.refused / knobs.running().max(1.0);
            let passing = (1.0 - st.refused) / (1.0 - again).max(1e-9);
            r.refused = again;
            r.turned_away = knobs.refuse.map(|shed| 1.0 - (1.0 - shed) * passing);
        }
        for c in 0..usize::from(spec.classes) {
            let w = &work.class[c];
            r.failed[c] = w.failed.clamp(0.0, 1.0);
            r.overdue[c] = w.overdue.clamp(0.0, 1.0);
            r.class_mean_s[c] = st.wait + w.ok_s;
            r.class_var_s2[c] = st.wait_var + w.ok_var;
        }
        if let Some(k) = &narrow {
            let deep = self.scratch.views[k.edge].mixed.refusal;
            let below = (work.failed - work.error).max(0.0);
            r.refusal = below / work.failed.max(1e-12) * deep;
            r.path_s = work.own_s;
        }
        capacity(&mut r, narrow.as_ref(), work, slots, places);
        expire(&mut r, spec, &knobs.refuse, work, offered, served, slots);
        r
    }

    #[expect(clippy::too_many_arguments, reason = "one round's facts, each used once")]
    fn send(
        &mut self,
        spec: &TierSpec,
        knobs: &Knobs,
        offered: &Offered,
        served: &Served,
        fresh: &Report,
        slots: f64,
        dt_s: f64,
    ) {
        let Scratch { views, work } = &self.scratch;
        let classes = usize::from(spec.classes);
        let per_class = per_class(offered, served, classes);
        let sending = Sending {
            classes,
            offered,
            served,
            per_class: &per_class,
            work,
            slots,
            heard_s: heard_s(fresh, work.failed, offered.timeout_s),
            dt_s,
        };
        self.round.calls.clear();
        for (k, edge) in spec.edges.iter().enumerate() {
            let edge_knobs = knobs.edges.get(k).unwrap_or(&CALM_EDGE);
            let policy = edge_knobs.policy.as_ref().unwrap_or(&edge.policy);
            let state = &mut self.core.edges[k];
            let new = sending.calls(k, policy, edge_knobs, &views[k], state);
            state.reported = state.sent.rate.iter().sum();
            settle_calls(&mut state.sent, &new);
            self.round.calls.push(state.sent);
        }
    }

    /// Writes down the figures of the round.
    fn note(&mut self, offered: &Offered, served: &Served, classes: usize) {
        let (st, work) = (&served.station, &self.scratch.work);
        let r = &mut self.round;
        r.offered = offered.total;
        r.arrived = served.arrived;
        r.turned_away = offered.turned_away;
        r.served = st.served;
        r.class_served = per_class(offered, served, classes);
        r.refused = served.arrived * st.refused;
        r.queue = st.queue;
        (r.wait_s, r.wait_var_s2) = (st.wait, st.wait_var);
        r.busy_slots = st.served * work.hold_s;
        r.cpu_cores = (0..classes).map(|c| r.class_served[c] * work.class[c].cpu_s).sum();
        (r.own_error, r.failed) = (work.error, work.failed);
        r.edges.clear();
        for (view, edge) in self.scratch.views.iter().zip(&self.core.edges) {
            r.edges.push(EdgeRound {
                first_failure: view.mixed.first,
                later_failure: view.mixed.later,
                failed: view.mixed.failed,
                attempts: view.mixed.attempts,
                passed: view.passed,
                calls: edge.calls.iter().sum(),
                ok_s: view.mixed.ok_s,
                late: view.mixed.late,
                in_use: view.pool.in_use + edge.leaked,
                waiting: view.pool.waiting,
                no_connection: view.pool.refused,
                granted: view.granted,
            });
        }
    }

    fn finish(&mut self, offered: &Offered) {
        let r = &mut self.round;
        r.report = self.core.report;
        r.motion = Motion {
            failure: r.edges.iter().map(|e| e.first_failure).fold(0.0, f64::max),
            lateness: self.scratch.views.iter().map(|v| v.lateness).fold(0.0, f64::max),
            load: (offered.total / r.report.capacity.max(1e-9)).min(1.5),
        };
    }
}

/// Deadlines in the report: who expires in the queue is late, not refused, and keeps its caller
/// waiting; under overload those served have waited just under the deadline.
fn expire(
    r: &mut Report,
    spec: &TierSpec,
    shed: &PerClass,
    work: &Work,
    offered: &Offered,
    served: &Served,
    slots: f64,
) {
    let limit = offered.deadline_s;
    if offered.deadline && !spec.edges.is_empty() {
        // Own calls were cut at the deadline already: no answer comes after it.
        within_deadline(&mut r.ok_mean_s, &mut r.ok_var_s2, limit);
        for (mean, var) in r.class_mean_s.iter_mut().zip(&mut r.class_var_s2) {
            within_deadline(mean, var, limit);
        }
    }
    if !served.expiring {
        return;
    }
    r.in_time = 1.0 - served.station.refused;
    (r.refused, r.turned_away) = (0.0, *shed);
    let rate = slots / work.hold_s.max(1e-9);
    let over = served.arrived - rate;
    if spec.edges.is_empty() && over > 0.0 && served.station.wait > 0.3 * limit {
        // Time left when service starts: the head of the queue walks like an M/M/1 workload
        // below the deadline; requests that came here faster than others have more.
        let share = (rate / served.arrived).min(0.999);
        let ahead = -libm::log(1.0 - share) / share - 1.0;
        let margin = 1.0 / over + offered.elsewhere_s.min(0.1 * limit) * ahead;
        r.in_time *= margin / (margin + work.own_s);
        (r.ok_mean_s, r.ok_var_s2) = (0.98 * limit, sq(0.004 * limit));
        r.class_mean_s = [r.ok_mean_s; CLASSES_MAX];
        r.class_var_s2 = [r.ok_var_s2; CLASSES_MAX];
    }
}

fn within_deadline(mean: &mut f64, var: &mut f64, limit: f64) {
    *mean = mean.min(0.99 * limit);
    *var = var.min(sq((limit - *mean) / 3.0));
}

fn sq(x: f64) -> f64 {
    x * x
}

/// Served requests by class: what arrives, thinned alike. A queue that drains while nothing
/// arrives has forgotten its classes and takes them as equal.
fn per_class(offered: &Offered, served: &Served, classes: usize) -> PerClass {
    offered.weights(classes).map(|share| share * served.station.served)
}

/// The report of a component that is idle.
fn unloaded(spec: &TierSpec) -> Report {
    let (s, slots) = (spec.service_s, spec.concurrency);
    Report {
        ok_mean_s: s,
        ok_var_s2: s * s,
        fail_mean_s: s,
        fail_var_s2: s * s,
        class_mean_s: [s; CLASSES_MAX],
        class_var_s2: [s * s; CLASSES_MAX],
        capacity: slots / s.max(1e-9),
        servers: slots,
        unloaded_s: s,
        places: spec.queue,
        ..Report::IDEAL
    }
}
