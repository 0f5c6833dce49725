//! What components send each other in one round of the flow plane. All of it is a value of the
//! previous round when it is read (a Jacobi step), so neither evaluation order nor the split into
//! processes can change a bit. Rates are per second, times in seconds, sizes in bytes.

use crate::ids::{EdgeId, InstanceId};
use crate::naming::Resolution;
use serde::{Deserialize, Serialize};

/// Most request classes of one topology.
pub const CLASSES_MAX: usize = 8;
/// Most replica groups of one instance (version × host × condition).
pub const GROUPS_MAX: usize = 4;
/// Most history columns of one instance.
pub const COLUMNS_MAX: usize = 14;

/// One number per request class; unused classes hold 0.
pub type PerClass = [f64; CLASSES_MAX];

/// The attempts that one edge brings to its callee.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calls {
    /// The edge they come over.
    pub edge: EdgeId,
    /// Attempts per second and class that reach the callee.
    pub rate: PerClass,
    /// Most attempts that can be in flight at once: the caller's free slots or connections (N).
    pub in_flight_cap: f64,
    /// Time a caller's slot spends elsewhere per attempt, seconds (z).
    pub elsewhere_s: f64,
    /// The caller's time-out, seconds (T).
    pub timeout_s: f64,
    /// Caller slots that are busy with their own work.
    pub idle: f64,
    /// Attempts carry a deadline and expired ones are dropped at dequeue.
    pub deadline: bool,
}

impl Calls {
    /// No calls over `edge`.
    pub const fn none(edge: EdgeId) -> Calls {
        Calls {
            edge,
            rate: [0.0; CLASSES_MAX],
            in_flight_cap: 1e12,
            elsewhere_s: 0.0,
            timeout_s: 1e12,
            idle: 0.0,
            deadline: false,
        }
    }
}

/// What a component tells its callers about itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Mean time of an accepted attempt that succeeds, wait included, seconds.
    pub ok_mean_s: f64,
    /// Its variance, s².
    pub ok_var_s2: f64,
    /// Mean time of an accepted attempt that fails, seconds.
    pub fail_mean_s: f64,
    /// Its variance, s².
    pub fail_var_s2: f64,
    /// Mean time of an accepted attempt of each class that succeeds, wait included, seconds: a
    /// class with a lock wait or another path must time out alone.
    pub class_mean_s: PerClass,
    /// Its variance, s².
    pub class_var_s2: PerClass,
    /// Share of attempts refused because the queue is full, 0..1.
    pub refused: f64,
    /// Share of attempts turned away before they take a slot (shed, rate limit, a full queue that
    /// a retry need not meet again), per class.
    pub turned_away: PerClass,
    /// Share of accepted attempts that fail, own errors and failures below, per class.
    pub failed: PerClass,
    /// Share of accepted attempts that are answered well and are no good all the same, per class:
    /// what was put off (a message in a queue) will be done too late. Nobody waits for it and
    /// nobody tries again, so only users' good answers know of it.
    pub overdue: PerClass,
    /// Share of failures that are a refusal further down, 0..1.
    pub refusal: f64,
    /// Time from here to where that refusal happened, seconds.
    pub path_s: f64,
    /// Attempts of all callers that arrived, per second: what a caller's own attempts leave of it
    /// is the load of the others.
    pub offered: f64,
    /// Throughput of the bottleneck from here down, per second.
    pub capacity: f64,
    /// Servers of that bottleneck.
    pub servers: f64,
    /// Time through here when nothing waits, seconds.
    pub unloaded_s: f64,
    /// Places before an attempt is refused.
    pub places: f64,
    /// Share of accepted attempts served before their deadline (1 where none travels).
    pub in_time: f64,
}

impl Report {
    /// The report of a component that serves in no time, refuses nothing, and never fails.
    pub const IDEAL: Report = Report {
        ok_mean_s: 1e-6,
        ok_var_s2: 1e-12,
        fail_mean_s: 1e-6,
        fail_var_s2: 1e-12,
        class_mean_s: [1e-6; CLASSES_MAX],
        class_var_s2: [1e-12; CLASSES_MAX],
        refused: 0.0,
        turned_away: [0.0; CLASSES_MAX],
        failed: [0.0; CLASSES_MAX],
        overdue: [0.0; CLASSES_MAX],
        refusal: 0.0,
        path_s: 0.0,
        offered: 0.0,
        capacity: 1e12,
        servers: 1e6,
        unloaded_s: 1e-6,
        places: 1e12,
        in_time: 1.0,
    };
}

/// What a host gives one replica group of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// Whose.
    pub instance: InstanceId,
    /// Position of the group in the instance, 0..[`GROUPS_MAX`].
    pub group: u8,
    /// Replicas whose process runs.
    pub running: u32,
    /// The group's listening port is its own; false: another process holds it.
    pub port_bound: bool,
    /// Granted share of the CPU asked for, 0..=1.
    pub cpu: f64,
    /// Memory a replica may use before the host kills it, bytes.
    pub memory_limit: f64,
    /// Free bytes on the group's file system.
    pub disk_free: f64,
    /// Free inodes on it.
    pub inodes_free: f64,
    /// Clock error of the host, seconds (positive: ahead).
    pub skew_s: f64,
    /// Counts process starts; a change means that memory, pools and caches are gone.
    pub generation: u32,
}

impl Grant {
    /// A host without limits that runs `running` replicas.
    pub const fn ample(instance: InstanceId, group: u8, running: u32) -> Grant {
        Grant {
            instance,
            group,
            running,
            port_bound: true,
            cpu: 1.0,
            memory_limit: 1e15,
            disk_free: 1e15,
            inodes_free: 1e12,
            skew_s: 0.0,
            generation: 0,
        }
    }
}

/// What one replica group asks of its host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// Who asks.
    pub instance: InstanceId,
    /// Position of the group in the instance.
    pub group: u8,
    /// Replicas that should run.
    pub replicas: u32,
    /// CPU of all its replicas, cores.
    pub cpu_cores: f64,
    /// Memory of one replica, bytes.
    pub memory: f64,
    /// Bytes written to disk per second.
    pub disk_write: f64,
    /// Files created per second.
    pub files_write: f64,
    /// The processes exit by themselves this round with this code (0: they do not).
    pub exit_code: i32,
}

impl Need {
    /// Asks for `replicas` that use nothing.
    pub const fn idle(instance: InstanceId, group: u8, replicas: u32) -> Need {
        Need {
            instance,
            group,
            replicas,
            cpu_cores: 0.0,
            memory: 0.0,
            disk_write: 0.0,
            files_write: 0.0,
            exit_code: 0,
        }
    }
}

/// How much a component moves; the engine decides from it whether the next tick takes sub-steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// Largest attempt failure over its edges, 0..1.
    pub failure: f64,
    /// Largest min(latency / time-out, 1.5) over its edges.
    pub lateness: f64,
    /// min(offered / capacity, 1.5).
    pub load: f64,
}

/// Everything one instance reads in a round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inbox {
    /// Calls over its incoming edges, in edge order.
    pub calls: Vec<Calls>,
    /// Reports of its dependencies, in the order of its outgoing edges.
    pub reports: Vec<Report>,
    /// Grants for its groups, in group order.
    pub grants: Vec<Grant>,
    /// Hosts only: the needs of everything on it, in (instance, group) order.
    pub needs: Vec<Need>,
    /// What its processes get for the names of its callees, in the order of its outgoing edges;
    /// empty where no callee is found by a name.
    pub names: Vec<Resolution>,
}

/// Everything one instance says in a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outbox {
    /// What its callers see.
    pub report: Report,
    /// Calls over its outgoing edges, in edge order.
    pub calls: Vec<Calls>,
    /// Needs of its groups, in group order.
    pub needs: Vec<Need>,
    /// Hosts only: grants for everything on it, in (instance, group) order.
    pub grants: Vec<Grant>,
    /// Resolvers only: what callers get for each of its names, in the order of its setup.
    pub answers: Vec<Resolution>,
    /// How much it moves.
    pub motion: Motion,
    /// Values of its history columns, in the order of its kind's column list; the rest 0.
    pub row: [f64; COLUMNS_MAX],
}

impl Default for Outbox {
    fn default() -> Self {
        Outbox {
            report: Report::IDEAL,
            calls: Vec::new(),
            needs: Vec::new(),
            grants: Vec::new(),
            answers: Vec::new(),
            motion: Motion::default(),
            row: [0.0; COLUMNS_MAX],
        }
    }
}
