//! When a round may be skipped, and how values come to rest so that it can be.
//!
//! Callers see half of each change of latency and failure. A change below a millionth is none:
//! without that dead band the last bits would move for dozens of rounds.

use super::TierCore;
use super::swing::WEIGHT;
use crate::spec::{Knobs, TierSpec};
use model::{Calls, Report};

/// Inputs of the last round, and whether it left the state as it was.
#[derive(Clone, Debug, Default)]
pub(super) struct Memo {
    inputs: Option<Box<Inputs>>,
    before: Option<Box<TierCore>>,
    at_rest: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Inputs {
    dt_s: f64,
    calls: Vec<Calls>,
    reports: Vec<Report>,
    knobs: Knobs,
    spec: TierSpec,
}

impl Memo {
    /// Would a round with these inputs repeat the last one?
    pub(super) fn at_rest(
        &self,
        spec: &TierSpec,
        knobs: &Knobs,
        calls: &[Calls],
        reports: &[Report],
        dt_s: f64,
    ) -> bool {
        let Some(last) = &self.inputs else { return false };
        self.at_rest
            && last.dt_s == dt_s
            && last.calls == calls
            && last.reports == reports
            && last.knobs == *knobs
            && last.spec == *spec
    }

    /// Keeps the state for comparison.
    pub(super) fn before(&mut self, core: &TierCore) {
        match &mut self.before {
            Some(kept) => {
                kept.queue = core.queue;
                kept.report = core.report;
                kept.swing = core.swing;
                kept.edges.clone_from(&core.edges);
            }
            None => self.before = Some(Box::new(core.clone())),
        }
    }

    /// Keeps the inputs of a round that left the state as it was.
    pub(super) fn after(
        &mut self,
        core: &TierCore,
        spec: &TierSpec,
        knobs: &Knobs,
        calls: &[Calls],
        reports: &[Report],
        dt_s: f64,
    ) {
        self.at_rest = self.before.as_deref().is_some_and(|b| b == core);
        if !self.at_rest {
            return;
        }
        match &mut self.inputs {
            Some(kept) => {
                kept.dt_s = dt_s;
                kept.calls.clear();
                kept.calls.extend_from_slice(calls);
                kept.reports.clear();
                kept.reports.extend_from_slice(reports);
                kept.knobs.clone_from(knobs);
                kept.spec.clone_from(spec);
            }
            None => {
                self.inputs = Some(Box::new(Inputs {
                    dt_s,
                    calls: calls.to_vec(),
                    reports: reports.to_vec(),
                    knobs: knobs.clone(),
                    spec: spec.clone(),
                }));
            }
        }
    }

    /// The state was changed from outside.
    pub(super) fn forget(&mut self) {
        self.at_rest = false;
    }
}

/// Relative change that counts as none.
const STILL: f64 = 1e-6;

#[inline]
fn settle(old: &mut f64, new: f64) {
    if (new - *old).abs() > STILL * (old.abs() + 1e-9) {
        *old = new;
    }
}

/// On the way to `new` by ratio, for times: sqrt(old·new) at the usual weight, which takes one
/// root and no logarithm.
#[inline]
fn settle_time(old: &mut f64, new: f64, weight: f64) {
    let new = new.max(1e-14);
    if new == *old {
        return;
    }
    let next = if weight >= WEIGHT {
        (*old * new).sqrt()
    } else {
        *old * libm::exp(weight * libm::log(new / *old))
    };
    settle(old, next);
}

#[inline]
fn settle_share(old: &mut f64, new: f64, weight: f64) {
    settle(old, *old + weight * (new - *old));
    // An exponential tail towards never or always helps nobody and costs the memo.
    if new < 1e-12 && *old < STILL {
        *old = 0.0;
    } else if new > 1.0 - 1e-12 && *old > 1.0 - 4.0 * STILL {
        *old = 1.0;
    }
}

/// What callers see after a round that ended with the report `new`.
pub(super) fn settle_report(old: &mut Report, new: &Report, classes: usize, w: f64) {
    settle_time(&mut old.ok_mean_s, new.ok_mean_s, w);
    settle_time(&mut old.ok_var_s2, new.ok_var_s2, w);
    settle_time(&mut old.fail_mean_s, new.fail_mean_s, w);
    settle(&mut old.fail_var_s2, new.fail_var_s2);
    settle_share(&mut old.refused, new.refused, w);
    for c in 0..classes {
        settle_time(&mut old.class_mean_s[c], new.class_mean_s[c], w);
        settle_time(&mut old.class_var_s2[c], new.class_var_s2[c], w);
        settle_share(&mut old.failed[c], new.failed[c], w);
        settle_share(&mut old.turned_away[c], new.turned_away[c], w);
        settle_share(&mut old.overdue[c], new.overdue[c], w);
    }
    for (old, new) in [
        (&mut old.refusal, new.refusal),
        (&mut old.path_s, new.path_s),
        (&mut old.offered, new.offered),
        (&mut old.capacity, new.capacity),
        (&mut old.servers, new.servers),
        (&mut old.unloaded_s, new.unloaded_s),
        (&mut old.places, new.places),
        (&mut old.in_time, new.in_time),
    ] {
        settle(old, new);
    }
}

/// What goes over an edge after a round that ended with the calls `new`.
pub(super) fn settle_calls(old: &mut Calls, new: &Calls) {
    for (old, new) in old.rate.iter_mut().zip(&new.rate) {
        settle(old, *new);
    }
    settle(&mut old.in_flight_cap, new.in_flight_cap);
    settle(&mut old.elsewhere_s, new.elsewhere_s);
    settle(&mut old.timeout_s, new.timeout_s);
    settle(&mut old.idle, new.idle);
    old.deadline = new.deadline;
}
