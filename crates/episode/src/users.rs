//! The users: on the far side of the first edge. They want what the workload says, try as often as
//! their clients do, and count an answer as good if it is right and in time.

use flow::users::sharpen;
use flow::{Outcome, UsersEdge, UsersSpec};
use model::{CLASSES_MAX, Calls, EdgeFault, EdgeId, InstanceId, PerClass, Report, Topology};

/// Classes of one entry whose users behave alike.
#[derive(Clone, Debug)]
struct Crowd {
    edge: UsersEdge,
    entry: EdgeId,
    callee: InstanceId,
    members: [bool; CLASSES_MAX],
    /// The entry's report before the round.
    before: Report,
    /// The last judgement and what it was made from.
    memo: Option<(PerClass, [Report; 2], Outcome)>,
    /// The last offer and what it was made from.
    offer: Option<(PerClass, Report, Calls)>,
}

/// All users of a topology.
#[derive(Clone, Debug)]
pub(crate) struct Users {
    crowds: Vec<Crowd>,
    classes: usize,
}

/// What all users got in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Served {
    /// Good answers per second and class.
    pub(crate) good: PerClass,
    /// Right answers per second and class, late ones included.
    pub(crate) answered: PerClass,
    /// Attempts per second.
    pub(crate) attempts: f64,
    /// Largest failure of first attempts, for the motion rule.
    pub(crate) failure: f64,
    /// Largest latency over patience, for the motion rule.
    pub(crate) lateness: f64,
}

impl Users {
    pub(crate) fn new(topology: &Topology) -> Users {
        let mut crowds: Vec<Crowd> = Vec::new();
        let mut specs: Vec<UsersSpec> = Vec::new();
        for (c, class) in topology.classes.iter().enumerate() {
            let spec = UsersSpec {
                id: class.entry,
                classes: topology.classes.len() as u8,
                patience_s: class.patience_s,
                retries: class.retries,
                backoff_s: class.backoff_s,
                objective_s: objectives(topology),
            };
            let at = specs.iter().position(|known| *known == spec).unwrap_or_else(|| {
                crowds.push(Crowd {
                    edge: UsersEdge::new(spec.clone()),
                    entry: class.entry,
                    callee: topology.edges[class.entry.at()].to,
                    members: [false; CLASSES_MAX],
                    before: Report::IDEAL,
                    memo: None,
                    offer: None,
                });
                specs.push(spec);
                specs.len() - 1
            });
            crowds[at].members[c] = true;
        }
        Users { crowds, classes: topology.classes.len() }
    }

    /// Sets what faults do to a users' edge.
    pub(crate) fn set_fault(&mut self, edge: EdgeId, fault: EdgeFault) {
        for crowd in self.crowds.iter_mut().filter(|c| c.entry == edge) {
            crowd.edge.knobs_mut().fault = fault;
            (crowd.memo, crowd.offer) = (None, None);
        }
    }

    /// The attempts that demand brings over each entry edge, given the entries' last reports.
    pub(crate) fn offer(
        &mut self,
        demand: &PerClass,
        report: impl Fn(InstanceId) -> Report,
        mut send: impl FnMut(EdgeId, Calls),
    ) {
        for crowd in &mut self.crowds {
            let own = of(demand, &crowd.members);
            let seen = report(crowd.callee);
            crowd.before = seen;
            let calls = match &crowd.offer {
                Some((d, r, calls)) if *d == own && *r == seen => *calls,
                _ => {
                    let calls = crowd.edge.offer(&own, &seen);
                    crowd.offer = Some((own, seen, calls));
                    calls
                }
            };
            send(crowd.entry, calls);
        }
    }

    /// What became of demand when the entries report this after the round.
    pub(crate) fn judge(
        &mut self,
        demand: &PerClass,
        report: impl Fn(InstanceId) -> Report,
    ) -> Served {
        let mut all = Served::default();
        for crowd in &mut self.crowds {
            let own = of(demand, &crowd.members);
            let seen = [crowd.before, report(crowd.callee)];
            let outcome = match &crowd.memo {
                Some((d, r, outcome)) if *d == own && *r == seen => *outcome,
                _ => {
                    // Callers see reports at half weight, which steadies the loop; users feel the
                    // whole.
                    let outcome = crowd.edge.judge(&own, &sharpen(&seen[0], &seen[1]));
                    crowd.memo = Some((own, seen, outcome));
                    outcome
                }
            };
            let mut wanted = 0.0;
            for c in (0..self.classes).filter(|c| crowd.members[*c]) {
                all.good[c] = outcome.good[c];
                all.answered[c] = outcome.answered[c];
                wanted += own[c];
            }
            all.attempts += wanted * outcome.attempts;
            all.failure = all.failure.max(outcome.failure);
            all.lateness = all.lateness.max(outcome.lateness);
        }
        all
    }
}

fn objectives(topology: &Topology) -> PerClass {
    let mut objectives = [1e12; CLASSES_MAX];
    for (objective, class) in objectives.iter_mut().zip(&topology.classes) {
        *objective = class.objective_s;
    }
    objectives
}

fn of(demand: &PerClass, members: &[bool; CLASSES_MAX]) -> PerClass {
    let mut own = [0.0; CLASSES_MAX];
    for c in 0..CLASSES_MAX {
        if members[c] {
            own[c] = demand[c];
        }
    }
    own
}
