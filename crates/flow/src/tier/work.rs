//! What a request does with its slot: own work, locks, and the calls to dependencies one after
//! the other; by class and on the mixture of the classes that arrive.

use super::groups::Groups;
use crate::edge::EdgeView;
use crate::spec::{Knobs, TierSpec};
use model::{CLASSES_MAX, PerClass};

/// Time and fate of an accepted request. Seconds, shares 0–1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ClassWork {
    /// Slot time of own work and locks.
    pub own_s: f64,
    /// ... of which CPU.
    pub cpu_s: f64,
    /// Slot time, calls included.
    pub hold_s: f64,
    /// Second moment of the slot time at a leaf.
    pub hold_2: f64,
    /// Time of a request that succeeds, and its variance.
    pub ok_s: f64,
    pub ok_var: f64,
    /// Failed share, and its part from own errors.
    pub failed: f64,
    pub error: f64,
    /// Time and second moment of a request that fails, each times the failed share.
    pub fail_s: f64,
    pub fail_2: f64,
    /// Share of the successes whose deferred work is done too late.
    pub overdue: f64,
}

/// The same on the mixture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    pub class: [ClassWork; CLASSES_MAX],
    /// Expected calls per accepted request, by edge and class.
    pub calls: Vec<PerClass>,
    pub own_s: f64,
    pub cpu_s: f64,
    pub hold_s: f64,
    pub cs2: f64,
    pub ok_s: f64,
    pub ok_var: f64,
    pub failed: f64,
    pub error: f64,
    pub fail_s: f64,
    pub fail_var: f64,
}

impl Work {
    /// Fills in what requests do, for classes weighted by `weights` (sum 1).
    pub(crate) fn fill(
        &mut self,
        spec: &TierSpec,
        knobs: &Knobs,
        groups: Groups,
        views: &[EdgeView],
        weights: &PerClass,
    ) {
        let classes = usize::from(spec.classes);
        self.calls.resize(spec.edges.len(), [0.0; CLASSES_MAX]);
        for c in 0..classes {
            let mut w = own(spec, knobs, groups, c);
            for (k, edge) in spec.edges.iter().enumerate() {
                self.calls[k][c] = call(&mut w, &views[k], c, edge.calls[c], edge.optional);
            }
            self.class[c] = w;
        }
        self.mix(classes, weights, spec.edges.is_empty());
    }

    fn mix(&mut self, classes: usize, weights: &PerClass, leaf: bool) {
        let (mut own, mut cpu, mut hold, mut hold_2) = (0.0, 0.0, 0.0, 0.0);
        let (mut ok, mut ok_1, mut ok_2) = (0.0, 0.0, 0.0);
        let (mut failed, mut error, mut fail_1, mut fail_2) = (0.0, 0.0, 0.0, 0.0);
        let (mut plain_1, mut plain_2) = (0.0, 0.0);
        for (w, share) in self.class.iter().zip(weights).take(classes) {
            own += share * w.own_s;
            cpu += share * w.cpu_s;
            hold += share * w.hold_s;
            hold_2 += share * w.hold_2;
            let good = share * (1.0 - w.failed);
            let second = w.ok_var + w.ok_s * w.ok_s;
            ok += good;
            ok_1 += good * w.ok_s;
            ok_2 += good * second;
            plain_1 += share * w.ok_s;
            plain_2 += share * second;
            failed += share * w.failed;
            error += share * w.error;
            fail_1 += share * w.fail_s;
            fail_2 += share * w.fail_2;
        }
        (self.own_s, self.cpu_s, self.hold_s) = (own, cpu, hold);
        // Shares that sum to 1 but for the last bit.
        (self.failed, self.error) = (failed.clamp(0.0, 1.0), error.clamp(0.0, 1.0));
        let spread = hold_2 / (hold * hold).max(1e-18) - 1.0;
        self.cs2 = if leaf { spread.clamp(0.0, CS2_MAX) } else { 1.0 };
        let (ok_1, ok_2) = if ok > 1e-9 { (ok_1 / ok, ok_2 / ok) } else { (plain_1, plain_2) };
        (self.ok_s, self.ok_var) = (ok_1, (ok_2 - ok_1 * ok_1).max(1e-14));
        let (fail_1, fail_2) = if failed > 1e-12 {
            (fail_1 / failed, fail_2 / failed)
        } else {
            (own, 2.0 * own * own)
        };
        (self.fail_s, self.fail_var) = (fail_1, (fail_2 - fail_1 * fail_1).max(1e-14));
    }
}

/// A mixture of short and long jobs counts as at most this variable.
const CS2_MAX: f64 = 9.0;

/// Own work of class `c`: drawn over the groups, then a lock of exponential length.
fn own(spec: &TierSpec, knobs: &Knobs, groups: Groups, c: usize) -> ClassWork {
    let base = spec.service_s * knobs.slow[c];
    let lock = knobs.lock_wait_s[c];
    let cpu_s = base * groups.slow;
    let work_2 = base * base * (1.0 + spec.service_cv * spec.service_cv) * groups.slow_2;
    let own_s = cpu_s + lock;
    let var = (work_2 - cpu_s * cpu_s + lock * lock).max(0.0);
    let error = 1.0 - (1.0 - knobs.error[c]) * (1.0 - groups.error);
    let second = var + own_s * own_s;
    ClassWork {
        own_s,
        cpu_s,
        hold_s: own_s,
        hold_2: second,
        ok_s: own_s,
        ok_var: var,
        failed: error,
        error,
        fail_s: error * own_s,
        fail_2: error * second,
        overdue: 0.0,
    }
}

/// Adds `per_request` calls, one after the other, of class `c` to a request that has come this
/// far; returns the expected calls per accepted request. The first failed call ends a request.
fn call(w: &mut ClassWork, view: &EdgeView, c: usize, per_request: f64, optional: bool) -> f64 {
    if per_request <= 0.0 {
        return 0.0;
    }
    let v = &view.class[c];
    if v.overdue > 0.0 {
        w.overdue = 1.0 - (1.0 - w.overdue) * stage(v.overdue, per_request).0;
    }
    let here = 1.0 - w.failed;
    if optional {
        let fate = 1.0 - v.failed;
        let time = fate * v.ok_s + v.failed * v.fail_s;
        w.hold_s += here * per_request * v.per_call_s;
        let second =
            fate * (v.ok_var + v.ok_s * v.ok_s) + v.failed * (v.fail_var + v.fail_s * v.fail_s);
        w.ok_var += per_request * (second - time * time) + partial(per_request) * time * time;
        w.ok_s += per_request * time;
        return here * per_request;
    }
    let (ok, made) = stage(v.failed, per_request);
    w.hold_s += here * made * v.per_call_s;
    let lost = here * (1.0 - ok);
    if lost > 0.0 {
        // Calls before the one that failed, then that one, on top of the time so far.
        let before = ((made - (1.0 - ok) - ok * per_request) / (1.0 - ok)).max(0.0);
        let time = w.ok_s + before * v.ok_s + v.fail_s;
        let var = w.ok_var + before * v.ok_var + v.fail_var;
        w.fail_s += lost * time;
        w.fail_2 += lost * (var + time * time);
    }
    w.ok_var += per_request * v.ok_var + partial(per_request) * v.ok_s * v.ok_s;
    w.ok_s += per_request * v.ok_s;
    w.failed = 1.0 - here * ok;
    here * made
}

/// Variance of a number of calls that is whole or one more.
fn partial(per_request: f64) -> f64 {
    let part = per_request - per_request.floor();
    part * (1.0 - part)
}

/// Share of requests whose `n` calls all succeed, and calls made, when each fails with `failed`.
fn stage(failed: f64, n: f64) -> (f64, f64) {
    let whole = n.floor();
    let part = n - whole;
    let (mut all, mut made) = (1.0, 0.0);
    for _ in 0..(whole as u32).min(CALLS_MAX) {
        made += all;
        all *= 1.0 - failed;
    }
    (all * (1.0 - part * failed), made + part * all)
}

/// Calls of one request over one edge that are followed one by one.
const CALLS_MAX: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::ClassView;
    use crate::spec::EdgeSpec;

    fn view(failed: f64) -> EdgeView {
        let class = ClassView {
            failed,
            per_call_s: 0.01,
            ok_s: 0.01,
            ok_var: 1e-4,
            fail_s: 0.02,
            fail_var: 4e-4,
            ..ClassView::default()
        };
        EdgeView { class: [class; CLASSES_MAX], ..EdgeView::default() }
    }

    fn work(calls: f64, failed: f64, optional: bool) -> Work {
        let edge = EdgeSpec { calls: [calls; CLASSES_MAX], optional, ..EdgeSpec::default() };
        let spec = TierSpec { edges: vec![edge], ..TierSpec::default() };
        let knobs = Knobs::calm(1.0);
        let mut weights = [0.0; CLASSES_MAX];
        weights[0] = 1.0;
        let mut w = Work::default();
        w.fill(&spec, &knobs, Groups::of(&knobs), &[view(failed)], &weights);
        w
    }

    #[test]
    fn ten_queries_at_five_percent_fail_forty_percent_of_requests() {
        let w = work(10.0, 0.05, false);
        let all = 0.598_736_939_238_378_9; // 0.95^10
        assert!((w.failed - (1.0 - all)).abs() < 1e-12);
        assert!((w.calls[0][0] - (1.0 - all) / 0.05).abs() < 1e-9);
        let some = work(0.3, 0.5, false);
        assert!((some.failed - 0.15).abs() < 1e-12 && (some.calls[0][0] - 0.3).abs() < 1e-12);
    }

    #[test]
    fn an_optional_dependency_costs_time_only() {
        let w = work(2.0, 0.5, true);
        assert_eq!(w.failed, 0.0);
        assert!((w.ok_s - 0.005 - 2.0 * 0.015).abs() < 1e-12);
    }

    #[test]
    fn a_slow_group_adds_mean_and_variance() {
        let mut knobs = Knobs::calm(3.0);
        knobs.groups[1] = crate::spec::GroupKnobs { running: 1.0, slow: 5.0, error: 0.4 };
        let spec = TierSpec::default();
        let mut weights = [0.0; CLASSES_MAX];
        weights[0] = 1.0;
        let mut w = Work::default();
        w.fill(&spec, &knobs, Groups::of(&knobs), &[], &weights);
        assert!((w.hold_s - 0.005 * 2.0).abs() < 1e-12 && (w.failed - 0.1).abs() < 1e-12);
        assert!(w.cs2 > 2.0, "{}", w.cs2);
    }
}
