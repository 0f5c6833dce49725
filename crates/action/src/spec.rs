//! What an action is, and what it becomes.

use crate::error::ActionError;
use crate::site::Site;
use model::{EdgeId, InstanceId, Order, ParamSpec, Params, Query, Severity, Tick, Topology};
use serde::{Deserialize, Serialize};

/// One action of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct ActionSpec {
    /// Its name, a verb or the noun that is read, snake case.
    pub name: &'static str,
    /// What it does, for the agent.
    pub doc: &'static str,
    /// Whether it reads, mutates or steers the episode.
    pub class: ActionClass,
    /// How long it takes.
    pub duration: Duration,
    /// Its arguments.
    pub args: &'static [ParamSpec],
    /// What it becomes, given checked and complete arguments.
    pub effect: fn(&Params, &Site<'_>) -> Result<Effect, ActionError>,
    /// Sensible arguments over the present targets; empty for reads and control.
    pub variants: fn(&Site<'_>) -> Vec<Params>,
}

/// What sort of action it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionClass {
    /// Looks; changes nothing.
    Read,
    /// Becomes orders for components.
    Mutate,
    /// Lets time pass, claims, or ends the episode.
    Control,
}

/// Time on the agent's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duration {
    /// This many seconds.
    Fixed(u32),
    /// As many seconds as the argument `seconds` says.
    Asked,
}

/// Seconds that a read takes.
pub const READ_S: u32 = 5;
/// Seconds that a mutation takes.
pub const MUTATE_S: u32 = 30;

impl Duration {
    /// Of a read.
    pub const READ: Duration = Duration::Fixed(READ_S);
    /// Of a mutation.
    pub const MUTATE: Duration = Duration::Fixed(MUTATE_S);
}

/// Names are unique in the catalogue.
impl PartialEq for ActionSpec {
    fn eq(&self, other: &ActionSpec) -> bool {
        self.name == other.name
    }
}

impl ActionSpec {
    /// How long it takes with these arguments, seconds.
    pub fn duration_s(&self, args: &Params) -> u32 {
        match self.duration {
            Duration::Fixed(seconds) => seconds,
            Duration::Asked => args.number("seconds") as u32,
        }
    }
}

/// What an action becomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// A read.
    Read(Reading),
    /// Orders, given in this order.
    Orders(Vec<Order>),
    /// A line in a terminal.
    Shell {
        /// The host one is logged in to.
        host: InstanceId,
        /// The line.
        command: String,
    },
    /// Nothing for this many seconds.
    Wait(u32),
    /// A claim about the cause.
    Declare(Claim),
    /// The end of the agent's phase.
    Resolve,
}

/// A read, not yet bound to a tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Present status of one component or of all.
    Status {
        /// The component; `None`: all.
        of: Option<InstanceId>,
    },
    /// Components, edges, policies and classes as they are known.
    Topology,
    /// Series of one component.
    Metrics {
        /// The component.
        of: InstanceId,
        /// Names of signals; empty: all of its kind.
        signals: Vec<String>,
        /// How far back, minutes.
        minutes: u32,
    },
    /// Log lines of one component.
    Logs {
        /// The component.
        of: InstanceId,
        /// How far back, minutes.
        minutes: u32,
        /// Only lines at least this severe.
        severity: Severity,
        /// Only lines with this text; empty: all.
        contains: String,
        /// Most lines.
        limit: u32,
    },
    /// Sampled traces of requests.
    Traces {
        /// Name of a class or route; empty: all.
        route: String,
        /// How far back, minutes.
        minutes: u32,
        /// Most traces.
        limit: u32,
        /// Only requests that failed.
        only_failed: bool,
    },
    /// Deploys, configuration and policy changes, restarts of all components.
    Changes {
        /// How far back, minutes.
        minutes: u32,
    },
    /// Present configuration of one component.
    Config {
        /// The component.
        of: InstanceId,
    },
}

/// Most points of one series.
const POINTS_MAX: u32 = 60;

impl Reading {
    /// The questions to components that answer it at tick `now`, in id order; empty where the
    /// engine answers by itself (`Topology`, `Traces`).
    pub fn queries(&self, topology: &Topology, now: Tick) -> Vec<(InstanceId, Query)> {
        let since = |minutes: &u32| now.plus(-60 * i64::from(*minutes));
        match self {
            Reading::Topology | Reading::Traces { .. } => Vec::new(),
            Reading::Status { of: Some(of) } => vec![(*of, Query::Status)],
            Reading::Status { of: None } => topology.ids().map(|of| (of, Query::Status)).collect(),
            Reading::Config { of } => vec![(*of, Query::Config)],
            Reading::Changes { minutes } => topology
                .ids()
                .map(|of| (of, Query::Changes { from: since(minutes), to: now }))
                .collect(),
            Reading::Metrics { of, signals, minutes } => {
                let every = (minutes * 60).div_ceil(POINTS_MAX).max(1);
                let signals = signals.clone();
                vec![(*of, Query::Metrics { signals, from: since(minutes), to: now, every })]
            }
            Reading::Logs { of, minutes, severity, contains, limit } => {
                let (from, to) = (since(minutes), now);
                let (severity, contains, limit) = (*severity, contains.clone(), *limit);
                vec![(*of, Query::Logs { from, to, severity, contains, limit })]
            }
        }
    }
}

/// What the agent holds to be the cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The component where it lies.
    pub component: Option<InstanceId>,
    /// Or the edge.
    pub edge: Option<EdgeId>,
    /// Its coarse class.
    pub cause: CauseClass,
    /// When it began, minutes before the claim, ≥ 0.
    pub onset_minutes_ago: Option<f64>,
    /// In the agent's words; may be empty.
    pub evidence: String,
}

/// The ten coarse classes of causes; they are public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseClass {
    /// More work than capacity, feedback loops included.
    Overload,
    /// A deploy or rollout.
    Change,
    /// A setting, flag, rule or limit.
    Configuration,
    /// Certificates, secrets, permissions, sessions.
    Identity,
    /// Memory, CPU, disk, inodes, ports, pools.
    Resource,
    /// Links between components.
    Network,
    /// A third party or a callee.
    Dependency,
    /// Locks, plans, replication, corruption.
    Data,
    /// A process or unit that does not run.
    Process,
    /// Nothing is wrong.
    None,
}

impl CauseClass {
    /// Their names, in the order of [`CauseClass::ALL`].
    pub const NAMES: &'static [&'static str] = &[
        "overload",
        "change",
        "configuration",
        "identity",
        "resource",
        "network",
        "dependency",
        "data",
        "process",
        "none",
    ];

    /// All of them.
    pub const ALL: [CauseClass; 10] = [
        CauseClass::Overload,
        CauseClass::Change,
        CauseClass::Configuration,
        CauseClass::Identity,
        CauseClass::Resource,
        CauseClass::Network,
        CauseClass::Dependency,
        CauseClass::Data,
        CauseClass::Process,
        CauseClass::None,
    ];

    /// The class called `name`.
    pub fn find(name: &str) -> Option<CauseClass> {
        let at = CauseClass::NAMES.iter().position(|known| *known == name)?;
        Some(CauseClass::ALL[at])
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        CauseClass::NAMES[self as usize]
    }
}
