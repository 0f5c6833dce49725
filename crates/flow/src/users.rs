//! The far side of the first edge: users who wait, give up, and try again.

use crate::edge::{EdgeState, EdgeView, Look};
use crate::latency::{quantile, within};
use crate::spec::EdgeKnobs;
use model::{CLASSES_MAX, Calls, EdgeId, EdgePolicy, PerClass, Report};
use serde::{Deserialize, Serialize};

/// How users of one entry behave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UsersSpec {
    /// The edge to the entry component.
    pub id: EdgeId,
    /// Request classes of the topology.
    pub classes: u8,
    /// Longest a user waits for one attempt, seconds; 1e9 or more: for ever.
    pub patience_s: f64,
    /// Attempts after the first.
    pub retries: u32,
    /// Mean pause before each of them, seconds.
    pub backoff_s: f64,
    /// Latency within which a correct answer is good, seconds, per class.
    pub objective_s: PerClass,
}

impl Default for UsersSpec {
    fn default() -> Self {
        UsersSpec {
            id: EdgeId(0),
            classes: 1,
            patience_s: 10.0,
            retries: 0,
            backoff_s: 0.0,
            objective_s: [1e12; CLASSES_MAX],
        }
    }
}

/// What users got in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Requests per second and class answered correctly within the objective, less those whose
    /// deferred work is done too late.
    pub good: PerClass,
    /// Requests per second and class answered correctly, late ones included.
    pub answered: PerClass,
    /// Share of all requests answered correctly, 0–1.
    pub success: f64,
    /// Share of all requests that are good, 0–1.
    pub good_share: f64,
    /// Latency of answered requests: mean, median, p95, p99, seconds.
    pub mean_s: f64,
    /// Median.
    pub p50_s: f64,
    /// 95 %.
    pub p95_s: f64,
    /// 99 %.
    pub p99_s: f64,
    /// Attempts per request.
    pub attempts: f64,
    /// Failed share of first attempts, for the motion rule.
    pub failure: f64,
    /// Latency over patience, at most 1.5, for the motion rule.
    pub lateness: f64,
}

/// The report as it would be without the halving that callers see, from two reports that follow
/// each other. Users are judged on this: the halving steadies the loop, it is not what they feel.
pub fn sharpen(before: &Report, after: &Report) -> Report {
    let share = |old: f64, new: f64| (2.0 * new - old).clamp(0.0, 1.0);
    // A restart resets latencies by any factor; then the ratio says nothing, hence the bounds.
    let time = |old: f64, new: f64| new * (new / old.max(1e-14)).clamp(0.25, 4.0);
    let var = |old: f64, new: f64| new * (new / old.max(1e-14)).clamp(0.0625, 16.0);
    let mut r = *after;
    r.ok_mean_s = time(before.ok_mean_s, after.ok_mean_s);
    r.ok_var_s2 = var(before.ok_var_s2, after.ok_var_s2);
    r.fail_mean_s = time(before.fail_mean_s, after.fail_mean_s);
    r.refused = share(before.refused, after.refused);
    for c in 0..CLASSES_MAX {
        r.class_mean_s[c] = time(before.class_mean_s[c], after.class_mean_s[c]);
        r.class_var_s2[c] = var(before.class_var_s2[c], after.class_var_s2[c]);
        r.failed[c] = share(before.failed[c], after.failed[c]);
        r.turned_away[c] = share(before.turned_away[c], after.turned_away[c]);
        r.overdue[c] = share(before.overdue[c], after.overdue[c]);
    }
    r
}

/// Users of one entry. They have no budget, no breaker and no pool, hence no state.
#[derive(Clone, Debug)]
pub struct UsersEdge {
    spec: UsersSpec,
    policy: EdgePolicy,
    knobs: EdgeKnobs,
}

impl UsersEdge {
    /// Users who behave like this.
    pub fn new(spec: UsersSpec) -> UsersEdge {
        let policy = EdgePolicy {
            timeout_s: spec.patience_s,
            retries: spec.retries,
            backoff_s: spec.backoff_s,
            ..EdgePolicy::default()
        };
        UsersEdge { spec, policy, knobs: EdgeKnobs::default() }
    }

    /// What happens on the way to the entry (a fault of the users' link, a full outage).
    pub fn knobs_mut(&mut self) -> &mut EdgeKnobs {
        &mut self.knobs
    }

    fn look(&self, demand: &PerClass, report: &Report) -> EdgeView {
        EdgeState::new(self.spec.id).look(&Look {
            policy: &self.policy,
            knobs: &self.knobs,
            report,
            classes: usize::from(self.spec.classes),
            weights: demand,
            deadline_s: None,
            dt_s: 1.0,
        })
    }

    /// The attempts that `demand` (requests per second and class) brings to the entry, given the
    /// entry's last report.
    pub fn offer(&self, demand: &PerClass, report: &Report) -> Calls {
        let view = self.look(demand, report);
        let mut calls = Calls::none(self.spec.id);
        for c in 0..usize::from(self.spec.classes) {
            calls.rate[c] = demand[c] * view.class[c].reaching * view.passed;
        }
        calls.timeout_s = view.timeout_s;
        calls
    }

    /// What became of `demand` when the entry reports `report` after the round.
    pub fn judge(&self, demand: &PerClass, report: &Report) -> Outcome {
        let view = self.look(demand, report);
        let mut out = Outcome { lateness: view.lateness, ..Outcome::default() };
        let (mut all, mut answered, mut good) = (0.0, 0.0, 0.0);
        let (mut first, mut second) = (0.0, 0.0);
        for c in 0..usize::from(self.spec.classes) {
            let v = &view.class[c];
            let ok = demand[c] * (1.0 - v.failed);
            // One attempt cannot take longer than the patience; several can.
            let cut = if v.attempts > 1.000_001 { 1e12 } else { self.spec.patience_s };
            let objective = self.spec.objective_s[c];
            let share = if objective >= cut { 1.0 } else { within(v.ok_s, v.ok_var, objective) };
            out.answered[c] = ok;
            out.good[c] = ok * share * (1.0 - v.overdue);
            all += demand[c];
            answered += ok;
            good += out.good[c];
            first += ok * v.ok_s;
            second += ok * (v.ok_var + v.ok_s * v.ok_s);
        }
        out.attempts = view.mixed.attempts;
        out.failure = view.mixed.first;
        if all > 1e-12 {
            (out.success, out.good_share) = (answered / all, good / all);
        } else {
            (out.success, out.good_share) = (1.0 - view.mixed.failed, 1.0 - view.mixed.failed);
        }
        let (mean, var) = if answered > 1e-12 {
            let mean = first / answered;
            (mean, (second / answered - mean * mean).max(1e-14))
        } else {
            (view.mixed.ok_s, view.mixed.ok_s * view.mixed.ok_s)
        };
        out.mean_s = mean;
        out.p50_s = quantile(mean, var, 0.0);
        out.p95_s = quantile(mean, var, 1.645);
        out.p99_s = quantile(mean, var, 2.326);
        out
    }
}
