//! The caller's side of one dependency: what a call costs and how it ends, given the callee's
//! last report.
//!
//! Wait, refusal and connections are shared by all classes of an edge; failure, latency, attempts
//! and the failed share are per class, so that a small cohort that always fails does not vanish
//! in a mixture.

use crate::breaker::Breaker;
use crate::latency::{FOREVER, timeout_prob, truncated_mean};
use crate::mmck::geometric;
use crate::naming::Stray;
use crate::pool::{PoolUse, pool};
use crate::retry::{Wanted, attempts, first_failure, grant};
use crate::spec::EdgeKnobs;
use model::{CLASSES_MAX, Calls, EdgeFault, EdgeId, EdgePolicy, PerClass, Report};
use serde::{Deserialize, Serialize};

/// Most tokens a retry budget holds.
pub const TOKENS_MAX: f64 = 100.0;

/// State of one edge, kept by its caller.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EdgeState {
    /// Retry tokens, 0..=[`TOKENS_MAX`].
    pub tokens: f64,
    /// The circuit breaker.
    pub breaker: Breaker,
    /// Connections that were never given back.
    pub leaked: f64,
    /// Attempts per call in the last round.
    pub attempts: f64,
    /// Calls per second and class started in the last round.
    pub calls: PerClass,
    /// What was sent to the callee in the last round.
    pub sent: Calls,
    /// Attempts per second sent in the round before: the callee's report has seen these.
    pub reported: f64,
}

impl EdgeState {
    /// An edge that has not been used.
    pub fn new(id: EdgeId) -> EdgeState {
        EdgeState {
            tokens: TOKENS_MAX,
            breaker: Breaker::default(),
            leaked: 0.0,
            attempts: 1.0,
            calls: [0.0; CLASSES_MAX],
            sent: Calls::none(id),
            reported: 0.0,
        }
    }
}

/// How the calls of one class end. Shares 0–1, seconds per call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassView {
    /// Attempts per call that passes the breaker.
    pub attempts: f64,
    /// Attempts per such call that reach the callee.
    pub reaching: f64,
    /// Failed share of calls, those stopped by the breaker included.
    pub failed: f64,
    /// Mean slot time of a call, failed ones and back-off included.
    pub per_call_s: f64,
    /// Mean time of a call that succeeds, earlier attempts included.
    pub ok_s: f64,
    /// Its variance.
    pub ok_var: f64,
    /// Mean time of a call that fails.
    pub fail_s: f64,
    /// Its variance.
    pub fail_var: f64,
    /// Failure of first attempts.
    pub first: f64,
    /// Failure of later attempts.
    pub later: f64,
    /// Share of failed attempts that are a refusal here or further down.
    pub refusal: f64,
    /// Time-outs among accepted attempts.
    pub late: f64,
    /// Slot time of a call that is spent outside the callee: back-off, connections, lost ones.
    pub outside_s: f64,
    /// Attempts per call if nothing were late or refused: errors of a callee without calls of its
    /// own, however fast it is.
    pub unloaded_attempts: f64,
    /// Share of calls that succeed and are no good: what they put off is done too late.
    pub overdue: f64,
}

/// How the calls of one edge end, by class and on the mixture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EdgeView {
    /// By class.
    pub class: [ClassView; CLASSES_MAX],
    /// The mixture by calls, of the fields that are linear in them.
    pub mixed: ClassView,
    /// Share of calls that the breaker lets through.
    pub passed: f64,
    /// Time-out that counts, seconds (a deadline may be nearer than the policy's).
    pub timeout_s: f64,
    /// Mean wait before a retry, seconds.
    pub backoff_s: f64,
    /// Connections.
    pub pool: PoolUse,
    /// Latency over time-out, at most 1.5.
    pub lateness: f64,
    /// Share of wanted retries that the budget grants, 0–1.
    pub granted: f64,
}

/// What one look at the callee needs beside the edge's state.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The policy in force.
    pub policy: &'a EdgePolicy,
    /// Faults, leak, forced breaker.
    pub knobs: &'a EdgeKnobs,
    /// The callee's last report.
    pub report: &'a Report,
    /// Classes in use.
    pub classes: usize,
    /// Classes weighted by their calls; need not sum to 1.
    pub weights: &'a PerClass,
    /// Time until the caller's own deadline, if it knows one, seconds.
    pub deadline_s: Option<f64>,
    /// Length of the round, seconds.
    pub dt_s: f64,
}

/// One attempt of one class that has a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    /// Share refused by the callee, queue or shed.
    refused: f64,
    /// Share of accepted attempts that come too late.
    late: f64,
    /// Share of accepted attempts that fail, sooner or later.
    lost: f64,
    /// Time of an accepted attempt.
    time_s: f64,
}

/// A lost request is waited for at most this long when there is no time-out, seconds.
const LOST_WAIT_MAX_S: f64 = 60.0;

impl EdgeState {
    /// Looks at the callee and moves tokens, breaker and the attempt count of this edge.
    pub fn look(&mut self, cx: &Look<'_>) -> EdgeView {
        let timing = Timing::new(cx);
        let mut tries = [Attempt::default(); CLASSES_MAX];
        for c in 0..cx.classes {
            tries[c] = if c > 0 && alike(cx.report, c - 1, c) {
                tries[c - 1]
            } else {
                timing.attempt(cx, c)
            };
        }
        let pool = self.connections(cx, &tries);
        let (timeout_s, backoff_s) = (timing.timeout_s, cx.policy.backoff_s);
        let mut view = EdgeView { timeout_s, backoff_s, pool, ..EdgeView::default() };
        for c in 0..cx.classes {
            if c > 0 && alike(cx.report, c - 1, c) {
                view.class[c] = view.class[c - 1];
            } else {
                timing.failure(cx, c, &tries[c], pool.refused, &mut view.class[c]);
            }
        }
        let granted = self.granted(cx, timing.retries, &view.class);
        for c in 0..cx.classes {
            if c > 0 && alike(cx.report, c - 1, c) {
                view.class[c] = view.class[c - 1];
            } else {
                timing.call(cx, c, &tries[c], pool, granted, &mut view.class[c]);
            }
        }
        view.granted = granted;
        self.close(cx, &timing, view)
    }

    /// The pool as a station whose load is the calls of the last round.
    fn connections(&self, cx: &Look<'_>, tries: &[Attempt; CLASSES_MAX]) -> PoolUse {
        let Some(policy) = &cx.policy.pool else { return PoolUse::default() };
        let hold = weighted(cx, |c| tries[c].time_s * (1.0 - tries[c].refused));
        let calls: f64 = self.calls[..cx.classes].iter().sum();
        let usable = policy.size - self.leaked;
        // Without the right address there is nothing to hold a connection to.
        let found = 1.0 - cx.knobs.names.missing - cx.knobs.names.astray;
        pool(usable, hold, calls * self.attempts * found, policy.acquire_timeout_s)
    }

    /// Share of retries that the budget grants.
    fn granted(&mut self, cx: &Look<'_>, retries: f64, class: &[ClassView; CLASSES_MAX]) -> f64 {
        let Some(ratio) = cx.policy.retry_budget else { return 1.0 };
        let mut wanted = [Wanted::default(); CLASSES_MAX];
        for c in 0..cx.classes {
            wanted[c] =
                Wanted { calls: self.calls[c], first: class[c].first, later: class[c].later };
        }
        let used = &wanted[..cx.classes];
        let (g, left) = grant(used, retries, cx.dt_s, ratio, self.tokens, TOKENS_MAX);
        self.tokens = left;
        g
    }

    /// The mixture, and the breaker on it.
    fn close(&mut self, cx: &Look<'_>, timing: &Timing, mut view: EdgeView) -> EdgeView {
        let found = weighted(cx, |c| view.class[c].attempts);
        let tries = attempts(1.0, 1.0, timing.retries, view.granted).mean;
        let cost = Stray { tries, wait_s: timing.lost_s(), backoff_s: cx.policy.backoff_s };
        cost.spread(cx.knobs.names, &mut view.class[..cx.classes]);
        let class = &view.class;
        let mix = |f: fn(&ClassView) -> f64| weighted(cx, |c| f(&class[c]));
        let (attempts, first) = (mix(|v| v.attempts), mix(|v| v.first));
        let calls: f64 = self.calls[..cx.classes].iter().sum();
        let closed = match &cx.policy.breaker {
            Some(policy) => self.breaker.pass(policy, first, calls * attempts, cx.dt_s),
            None => {
                self.breaker = Breaker::default();
                1.0
            }
        };
        view.passed = if cx.knobs.forced_open { 0.0 } else { closed };
        if view.passed < 1.0 {
            for v in &mut view.class[..cx.classes] {
                gate(v, view.passed);
            }
        }
        let class = &view.class;
        let mix = |f: fn(&ClassView) -> f64| weighted(cx, |c| f(&class[c]));
        let failing = mix(|v| v.first);
        let refusal = weighted(cx, |c| class[c].first * class[c].refusal);
        view.mixed = ClassView {
            attempts,
            reaching: mix(|v| v.reaching),
            failed: mix(|v| v.failed),
            per_call_s: mix(|v| v.per_call_s),
            ok_s: mix(|v| v.ok_s),
            first,
            later: mix(|v| v.later),
            refusal: if failing > 1e-12 { refusal / failing } else { 0.0 },
            late: mix(|v| v.late),
            outside_s: mix(|v| v.outside_s),
            unloaded_attempts: mix(|v| v.unloaded_attempts),
            ..ClassView::default()
        };
        // Differences in the last bits would keep a steady pool from coming to rest.
        if (found - self.attempts).abs() > 1e-12 {
            self.attempts = found;
        }
        let latency = cx.report.ok_mean_s + cx.knobs.fault.delay_s;
        view.lateness = (latency / timing.timeout_s.max(1e-9)).min(1.5);
        view
    }
}

/// What a breaker that lets `passed` of the calls through makes of a class.
fn gate(v: &mut ClassView, passed: f64) {
    let failed = 1.0 - passed * (1.0 - v.failed);
    let tried = if failed > 1e-12 { passed * v.failed / failed } else { 0.0 };
    // Calls that are stopped fail in no time.
    v.fail_var = tried * (v.fail_var + (1.0 - tried) * v.fail_s * v.fail_s);
    v.fail_s *= tried;
    v.failed = failed;
    v.per_call_s *= passed;
    v.outside_s *= passed;
}

/// Do two classes look the same to a caller? Then one is computed and the other copied.
fn alike(r: &Report, a: usize, b: usize) -> bool {
    r.failed[a] == r.failed[b]
        && r.class_mean_s[a] == r.class_mean_s[b]
        && r.class_var_s2[a] == r.class_var_s2[b]
        && r.turned_away[a] == r.turned_away[b]
        && r.overdue[a] == r.overdue[b]
}

/// Mean of `f` over the classes by the look's weights; equal weights when nobody calls.
fn weighted(cx: &Look<'_>, f: impl Fn(usize) -> f64) -> f64 {
    let (mut sum, mut total, mut plain) = (0.0, 0.0, 0.0);
    for c in 0..cx.classes {
        let x = f(c);
        sum += cx.weights[c] * x;
        total += cx.weights[c];
        plain += x;
    }
    if total > 1e-12 { sum / total } else { plain / cx.classes.max(1) as f64 }
}

/// Time-out and retries that count once deadlines are known.
#[derive(Clone, Copy, Debug)]
struct Timing {
    timeout_s: f64,
    retries: f64,
    fault: EdgeFault,
}

impl Timing {
    fn new(cx: &Look<'_>) -> Timing {
        let (policy, r, fault) = (cx.policy, cx.report, cx.knobs.fault);
        let mut timeout_s = policy.timeout_s;
        let mut retries = f64::from(policy.retries);
        if let Some(left) = cx.deadline_s {
            // No attempt starts after the caller's own deadline.
            timeout_s = timeout_s.min(left).max(1e-6);
            // An attempt that expires leaves no time for another.
            let time = if r.in_time < 0.999 {
                timeout_s
            } else {
                truncated_mean(r.ok_mean_s + fault.delay_s, r.ok_var_s2, timeout_s)
            };
            let each = (1.0 - r.refused) * time + policy.backoff_s;
            retries = retries.min((left / each.max(1e-9) - 1.0).max(0.0));
        }
        Timing { timeout_s, retries, fault }
    }

    /// What waiting for an answer that never comes costs.
    fn lost_s(&self) -> f64 {
        if self.timeout_s >= FOREVER { LOST_WAIT_MAX_S } else { self.timeout_s }
    }

    fn attempt(&self, cx: &Look<'_>, c: usize) -> Attempt {
        let (r, fault, timeout) = (cx.report, self.fault, self.timeout_s);
        let mean = r.class_mean_s[c] + fault.delay_s;
        let mut late = timeout_prob(mean, r.class_var_s2[c], timeout);
        if r.in_time < 1.0 {
            late = 1.0 - r.in_time * (1.0 - late);
        }
        let e = r.failed[c];
        let mut time_s = (1.0 - e) * truncated_mean(mean, r.class_var_s2[c], timeout);
        if e > 0.0 {
            time_s += e * truncated_mean(r.fail_mean_s + fault.delay_s, r.fail_var_s2, timeout);
        }
        // Who expires in the callee's queue, or whose reply gets lost, is waited for to the end.
        let unanswered = 1.0 - r.in_time * (1.0 - fault.reply_loss);
        time_s += unanswered * (self.lost_s() - time_s);
        Attempt {
            refused: 1.0 - (1.0 - r.turned_away[c]) * (1.0 - r.refused),
            late,
            lost: 1.0 - (1.0 - e) * (1.0 - late) * (1.0 - fault.reply_loss),
            time_s,
        }
    }

    /// Share of attempts that get a connection and arrive.
    fn arriving(&self, no_connection: f64) -> f64 {
        (1.0 - no_connection) * (1.0 - self.fault.abort) * (1.0 - self.fault.request_loss)
    }

    /// How first and later attempts fail. A refused attempt meets the same full queue if its
    /// retry comes soon; so does one that failed because of a refusal further down.
    fn failure(&self, cx: &Look<'_>, c: usize, a: &Attempt, no_conn: f64, v: &mut ClassView) {
        let r = cx.report;
        let arriving = self.arriving(no_conn);
        let f = (1.0 - arriving * (1.0 - a.refused) * (1.0 - a.lost)).min(0.999_999);
        v.late = a.late;
        if f < 1e-9 {
            (v.first, v.later, v.refusal) = (f.max(0.0), f.max(0.0), 0.0);
            return;
        }
        let here = arriving * (1.0 - r.turned_away[c]) * r.refused / f;
        let deep = arriving * (1.0 - a.refused) * r.failed[c] * r.refusal / f;
        let backoff = cx.policy.backoff_s;
        let again =
            |delay: f64| 1.0 / (1.0 + std::f64::consts::FRAC_PI_2 * r.capacity * delay).sqrt();
        let boost = if deep > 0.0 { deep * again(backoff + r.path_s) } else { 0.0 };
        let (first, later) = first_failure(f, boost, self.retries);
        v.first = first;
        v.later = later;
        if here > 0.0 {
            v.later += (1.0 - later) * here * again(backoff);
        }
        v.refusal = here + deep;
    }

    /// Attempts, failed share and times of a call whose attempts fail as `v` already says.
    fn call(
        &self,
        cx: &Look<'_>,
        c: usize,
        a: &Attempt,
        pool: PoolUse,
        granted: f64,
        v: &mut ClassView,
    ) {
        let (retries, backoff, fault) = (self.retries, cx.policy.backoff_s, self.fault);
        let n = attempts(v.first, v.later, retries, granted);
        let arriving = self.arriving(pool.refused);
        // A success is an accepted attempt that was not lost: this counts the accepted without
        // assuming that refusals are independent.
        let accepted = if a.lost < 0.999 {
            ((1.0 - n.failed) / (1.0 - a.lost)).min(n.mean)
        } else {
            n.mean * arriving * (1.0 - a.refused)
        };
        // Below a callee with calls of its own, load fails requests as well as errors do.
        let leaf = cx.report.path_s <= 0.0;
        let error = if leaf { cx.report.failed[c] } else { 0.0 };
        v.unloaded_attempts = attempts(error, error, retries, granted).mean;
        v.attempts = n.mean;
        v.failed = n.failed;
        v.overdue = cx.report.overdue[c];
        v.reaching = (accepted / (1.0 - a.refused).max(1e-6)).min(n.mean * arriving);
        let wasted = self.wasted_s(n.mean - accepted, a, pool.refused);
        let spent = accepted * a.time_s + wasted + n.mean * pool.wait_s;
        let waits = (n.mean - 1.0) * backoff;
        v.per_call_s = spent + waits;
        v.outside_s = wasted + n.mean * pool.wait_s + waits;
        let (mean, var) = (cx.report.class_mean_s[c] + fault.delay_s, cx.report.class_var_s2[c]);
        let ok_s = success_s(mean, var, self.timeout_s, a);
        let ok_share = 1.0 - n.failed;
        let bad = (spent - ok_share * ok_s).max(0.0) / (n.mean - ok_share).max(1e-9);
        let (before, before_var) = earlier(v, n.failed, retries, granted);
        let cycle = bad + backoff;
        v.ok_s = ok_s + pool.wait_s + before * cycle;
        v.ok_var = var * (1.0 - a.late) * (1.0 - a.late)
            + before_var * cycle * cycle
            + before * backoff * backoff / 3.0;
        let again = retries * granted;
        v.fail_s = (again + 1.0) * bad + again * backoff;
        v.fail_var = (again + 1.0) * a.refused * (1.0 - a.refused) * a.time_s * a.time_s
            + again * backoff * backoff / 3.0;
    }

    /// Slot time of attempts that the callee never accepted: a refusal costs the link's delay, a
    /// lost request the whole time-out, an abort nothing.
    fn wasted_s(&self, attempts: f64, a: &Attempt, no_conn: f64) -> f64 {
        let fault = self.fault;
        if attempts < 1e-12 || (fault.request_loss <= 0.0 && fault.delay_s <= 0.0) {
            return 0.0;
        }
        let sent = (1.0 - no_conn) * (1.0 - fault.abort);
        let unaccepted = 1.0 - self.arriving(no_conn) * (1.0 - a.refused);
        let lost = sent * fault.request_loss;
        let refused = sent * (1.0 - fault.request_loss) * a.refused;
        let cost = lost * self.lost_s() + refused * fault.delay_s.min(self.timeout_s);
        attempts * cost / unaccepted.max(1e-12)
    }
}

/// Mean time of an attempt that succeeds: the latency below the time-out.
fn success_s(mean: f64, var: f64, timeout: f64, a: &Attempt) -> f64 {
    if a.late > 0.0 && a.late < 0.999 && timeout < FOREVER {
        ((truncated_mean(mean, var, timeout) - timeout * a.late) / (1.0 - a.late)).max(0.0)
    } else {
        truncated_mean(mean, var, timeout)
    }
}

/// Failed attempts before a success: mean and variance.
fn earlier(v: &ClassView, failed: f64, retries: f64, granted: f64) -> (f64, f64) {
    if retries <= 0.0 || v.first < 1e-9 || failed > 0.999_999 {
        return (0.0, 0.0);
    }
    let late = (1.0 - (1.0 - v.first) / (1.0 - failed)).clamp(0.0, 1.0);
    let ratio = (granted * v.later).clamp(1e-9, 0.999_99);
    let g = geometric(ratio, (retries - 1.0).max(0.0));
    let each = 1.0 + g.mean;
    (late * each, late * g.var + late * (1.0 - late) * each * each)
}
