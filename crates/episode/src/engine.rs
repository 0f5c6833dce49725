//! The engine's own state: everything of an episode that is not inside a component. It is in every
//! step digest and in the hand-over to the grader.

use crate::motion::Mover;
use crate::schedule::{Note, Schedule};
use crate::watch::Watch;
use crate::workload::Demand;
use action::Claim;
use machine::SnapshotError;
use model::{Digest, Digester, EdgeFault, EdgeId, InstanceId, LeverPull, Noise, Outbox, Tick};
use record::EndReason;
use scenario::Scenario;
use serde::{Deserialize, Serialize};
use shell::Session;
use std::collections::BTreeMap;

/// Monitoring counts impact this many seconds late.
const ESTIMATE_DELAY_S: usize = 15;

/// State of one episode outside the components.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Engine {
    /// The next tick to play.
    pub(crate) tick: Tick,
    /// Steps taken.
    pub(crate) steps: u32,
    /// Inputs taken.
    pub(crate) inputs: u64,
    /// Why it is over.
    pub(crate) end: Option<EndReason>,
    /// Impact so far, micro-user-minutes; from tick 0 on.
    pub(crate) impact: i64,
    pub(crate) demand: Demand,
    pub(crate) schedule: Schedule,
    pub(crate) mover: Mover,
    pub(crate) watch: Watch,
    /// Faults of the users' edges: pull id and what it does.
    pub(crate) entry_faults: Vec<(u64, EdgeId, EdgeFault)>,
    /// Entries of the change list that belong to no machine.
    pub(crate) notes: Vec<Note>,
    /// What the agent claimed, and when.
    pub(crate) claims: Vec<(Tick, Claim)>,
    /// Terminals by host, once something was typed there.
    pub(crate) sessions: BTreeMap<InstanceId, Session>,
    /// Replicas wanted now, over all instances.
    pub(crate) replicas_now: f64,
    /// Replicas at tick 0, over all instances.
    pub(crate) replicas_at_start: f64,
    /// Lost writes that are counted already.
    pub(crate) writes_lost: f64,
    /// Impact of the ticks that monitoring has not counted yet, newest last.
    pub(crate) estimates: Vec<i64>,
    /// Impact that monitoring has counted.
    pub(crate) estimated: i64,
    /// Ticks in which accepted orders take effect: they move the world then.
    pub(crate) effects: Vec<Tick>,
    /// Rolling digest of every outbox of every round.
    pub(crate) rolling: Digester,
}

impl Engine {
    pub(crate) fn new(scenario: &Scenario, noise: Noise) -> Engine {
        let start = scenario.timing.start;
        Engine {
            tick: start,
            steps: 0,
            inputs: 0,
            end: None,
            impact: 0,
            demand: Demand::new(&scenario.workload, noise.branch("demand"), start),
            schedule: Schedule::new(scenario),
            mover: Mover::default(),
            watch: Watch::new(scenario),
            entry_faults: Vec::new(),
            notes: Vec::new(),
            claims: Vec::new(),
            sessions: BTreeMap::new(),
            replicas_now: 0.0,
            replicas_at_start: 0.0,
            writes_lost: 0.0,
            estimates: Vec::new(),
            estimated: 0,
            effects: Vec::new(),
            rolling: Digester::default(),
        }
    }

    /// Digest of all of it.
    ///
    /// # Errors
    /// Where the state cannot be encoded.
    pub fn digest(&self) -> Result<Digest, SnapshotError> {
        // No `..`: a new field has to be in it.
        let Engine {
            tick,
            steps,
            inputs,
            end,
            impact,
            demand,
            schedule,
            mover,
            watch,
            entry_faults,
            notes,
            claims,
            sessions,
            replicas_now,
            replicas_at_start,
            writes_lost,
            estimates,
            estimated,
            effects,
            rolling,
        } = self;
        let counted = (impact, replicas_now, replicas_at_start, writes_lost, estimates, estimated);
        let told = (inputs, end, entry_faults, notes, claims, sessions, effects);
        let moving = (demand, schedule, mover, watch.brief());
        machine::digest("engine", &(tick, steps, counted, told, moving, rolling))
    }

    /// Monitoring counts a tick when its delay is over.
    pub(crate) fn estimate(&mut self, impact: i64) {
        self.estimates.push(impact);
        if self.estimates.len() > ESTIMATE_DELAY_S {
            self.estimated += self.estimates.remove(0);
        }
    }

    /// Puts a fault on a users' edge.
    pub(crate) fn pull_entry(&mut self, pull: &LeverPull, edge: EdgeId) {
        let fault = EdgeFault::of_lever(&pull.lever, &pull.args);
        self.entry_faults.push((pull.id, edge, fault));
    }

    /// All faults of a users' edge together.
    pub(crate) fn entry_fault(&self, edge: EdgeId) -> EdgeFault {
        let mine = self.entry_faults.iter().filter(|(_, of, _)| *of == edge);
        mine.fold(EdgeFault::NONE, |all, (_, _, fault)| all.stack(*fault))
    }

    /// Folds an outbox into the tick digest, by IEEE bits: every field of it, or that it is the
    /// same as in the round before, which `last` holds (`None` before the first).
    pub(crate) fn fold(
        &mut self,
        outbox: &Outbox,
        last: &mut Option<Outbox>,
        buffer: &mut Vec<f64>,
    ) {
        match last {
            Some(last) if last == outbox => return self.rolling.word(0),
            Some(last) => last.clone_from(outbox),
            None => *last = Some(outbox.clone()),
        }
        list(outbox, buffer);
        self.rolling.floats(buffer);
    }
}

/// Every number of an outbox.
fn list(outbox: &Outbox, buffer: &mut Vec<f64>) {
    buffer.clear();
    let r = &outbox.report;
    buffer.extend([
        r.ok_mean_s,
        r.ok_var_s2,
        r.fail_mean_s,
        r.fail_var_s2,
        r.refused,
        r.refusal,
        r.path_s,
        r.capacity,
        r.servers,
        r.unloaded_s,
        r.places,
        r.in_time,
        r.offered,
        outbox.motion.failure,
        outbox.motion.lateness,
        outbox.motion.load,
    ]);
    for per_class in [r.class_mean_s, r.class_var_s2, r.turned_away, r.failed, r.overdue] {
        buffer.extend(per_class);
    }
    for calls in &outbox.calls {
        buffer.extend(calls.rate);
        buffer.extend([
            f64::from(calls.edge.0),
            calls.in_flight_cap,
            calls.elsewhere_s,
            calls.timeout_s,
            calls.idle,
            f64::from(u8::from(calls.deadline)),
        ]);
    }
    for need in &outbox.needs {
        buffer.extend([
            f64::from(need.instance.0),
            f64::from(need.group),
            f64::from(need.replicas),
            need.cpu_cores,
            need.memory,
            need.disk_write,
            need.files_write,
            f64::from(need.exit_code),
        ]);
    }
    for grant in &outbox.grants {
        buffer.extend([
            f64::from(grant.instance.0),
            f64::from(grant.group),
            f64::from(grant.running),
            f64::from(grant.generation),
            f64::from(u8::from(grant.port_bound)),
            grant.cpu,
            grant.memory_limit,
            grant.disk_free,
            grant.inodes_free,
            grant.skew_s,
        ]);
    }
    buffer.extend(outbox.answers.iter().flat_map(|a| [a.missing, a.astray]));
    buffer.extend(outbox.row);
}
