//! A scenario as it is meant: names resolved to positions, times to ticks, faults to lever pulls.
//! Self-contained, and stored whole in every record as canonical JSON.

use action::{Action, CauseClass, json};
use model::{
    ClassId, Digest, Digester, EdgeId, InstanceId, LeverPull, Order, PerClass, Tick, Topology,
};
use serde::{Deserialize, Serialize};

/// Version of the file format and of [`Scenario`]; raised when either changes its meaning.
pub const FORMAT: u32 = 1;

/// Ids of lever pulls that scenarios make are below this; live injections start here.
pub const PULL_IDS_END: u64 = 1 << 32;

/// Ticks from the end of the agent's phase to the recheck.
pub const RECHECK_AFTER: i64 = 60;

/// Planted in the truth: a test looks for it in everything an agent can see.
pub const CANARY: &str = "canary-6f1d-truth-scenario";

/// A complete scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// [`FORMAT`] at the time of writing.
    pub format: u32,
    /// `family/stem` of its file.
    pub name: String,
    /// The folder of its file.
    pub family: String,
    /// What it is, for people who may know; never shown to the agent.
    pub title: String,
    /// What happens, for people who may know; never shown to the agent.
    pub summary: String,
    /// 0 (nothing is wrong) to 4 (chained or independent faults).
    pub tier: u8,
    /// Nothing is broken: every mutation can only harm.
    pub healthy: bool,
    /// The system.
    pub topology: Topology,
    /// When what ends.
    pub timing: Timing,
    /// What users want.
    pub workload: Workload,
    /// Objectives, in file order.
    pub slos: Vec<Slo>,
    /// Alert rules, in file order; one with severity page fires at tick 0.
    pub alerts: Vec<Alert>,
    /// What happens, in file order.
    pub timeline: Vec<Event>,
    /// What happens in the tail in every world; empty: a hold window only.
    pub recheck: Vec<Event>,
    /// What harm costs.
    pub stakes: Stakes,
    /// What is true, and what should be done about it.
    pub truth: Truth,
}

/// The timeline of an episode, in ticks: [start, 0) warm-up, [0, horizon) the agent's phase,
/// [horizon, end) the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// First tick of the warm-up, negative.
    pub start: Tick,
    /// End of the agent's phase.
    pub horizon: Tick,
    /// When the recheck happens: [`RECHECK_AFTER`] after `horizon`.
    pub recheck: Tick,
    /// End of the tail.
    pub end: Tick,
    /// Most steps of the agent.
    pub step_limit: u32,
}

/// What users want. Each class's demand is piecewise constant: `rate` times the daily shape at the
/// start of a piece, times a jitter drawn from the seed, times the bursts that cover the tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Mean demand, one per class in class order.
    pub demand: Vec<Demand>,
    /// Relative amplitude of the daily wave, 0..1.
    pub daily_amplitude: f64,
    /// Length of the wave, seconds.
    pub period_s: f64,
    /// Shortest piece, seconds, ≥ 1.
    pub hold_min_s: u32,
    /// Longest piece, seconds.
    pub hold_max_s: u32,
    /// Relative standard deviation of the level of a piece, 0..1.
    pub jitter: f64,
    /// Steps of their own, those of the recheck included; never conditional.
    pub bursts: Vec<Burst>,
}

/// Mean demand of one class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// The class.
    pub class: ClassId,
    /// Requests per second.
    pub rate: f64,
}

/// A step in demand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// First tick.
    pub from: Tick,
    /// Tick after the last.
    pub to: Tick,
    /// Factor per class; 1 for classes it leaves alone.
    pub factor: PerClass,
}

/// A service-level objective over some classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slo {
    /// Its name.
    pub name: String,
    /// The classes whose requests count.
    pub classes: Vec<ClassId>,
    /// Share of requests that are to be good, in (0, 1).
    pub objective: f64,
    /// The short window, seconds.
    pub fast_s: u32,
    /// The long window, seconds.
    pub slow_s: u32,
    /// Burn rate above which both windows are in breach.
    pub burn: f64,
}

/// An alert rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// Its name.
    pub name: String,
    /// Whom it wakes.
    pub severity: AlertSeverity,
    /// When it fires.
    pub when: Condition,
    /// What it says.
    pub summary: String,
}

/// Whom an alert wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertSeverity {
    /// The one on call.
    Page,
    /// Nobody now.
    Ticket,
}

/// A signal that stays on one side of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// Whose signal.
    pub of: Subject,
    /// Name of the signal: one of the kind's, of [`USER_SIGNALS`] or of [`SLO_SIGNALS`].
    pub signal: String,
    /// Which side.
    pub comparison: Comparison,
    /// The value, in the signal's unit.
    pub value: f64,
    /// Ticks in a row it must hold, ≥ 1.
    pub for_s: u32,
}

/// Whose signal a condition watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A component.
    Component(InstanceId),
    /// All users together, as monitoring sees them.
    Users,
    /// An objective, by position in [`Scenario::slos`].
    Slo(u16),
}

/// Which side of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Greater.
    Above,
    /// Smaller.
    Below,
}

impl Comparison {
    /// Whether `value` is on this side of `limit`.
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Comparison::Above => value > limit,
            Comparison::Below => value < limit,
        }
    }
}

/// Signals of the users' side, with what they are.
pub const USER_SIGNALS: &[(&str, &str)] = &[
    ("demand.rate", "Requests that users want answered, per second."),
    ("good.rate", "Requests answered correctly within their objective, per second."),
    ("good.ratio", "Good requests over wanted ones, 0..1; 1 without demand."),
    ("bad.ratio", "1 − good.ratio."),
    ("error.ratio", "Requests that failed after all attempts over wanted ones, 0..1."),
    ("attempts.ratio", "Attempts of the clients over wanted requests, ≥ 1."),
];

/// Signals of an objective, with what they are.
pub const SLO_SIGNALS: &[(&str, &str)] = &[
    ("burn", "The smaller of both burn rates: above `burn` means both windows are in breach."),
    ("burn.fast", "Burn rate over the short window."),
    ("burn.slow", "Burn rate over the long window."),
    ("good.ratio", "Good over wanted requests in the short window, 0..1."),
];

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at: When,
    /// What.
    pub what: Happening,
}

/// When an event happens; once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// At the start of this tick.
    Tick(Tick),
    /// At the start of the tick after the condition has held long enough, from `after` on.
    Condition {
        /// The condition.
        when: Condition,
        /// Ticks before this one do not count.
        after: Tick,
    },
}

/// What an event is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// A fault begins.
    Pull {
        /// The author's name for it, unique in the scenario.
        label: String,
        /// Name of the fault in the catalogue.
        fault: String,
        /// What it pulls; ids are unique in the scenario and below [`PULL_IDS_END`].
        pulls: Vec<LeverPull>,
        /// It ends by itself this many ticks later.
        lasting_s: Option<u32>,
    },
    /// A fault ends; nothing where it never began.
    Clear {
        /// The author's name for it.
        label: String,
        /// What is let go.
        pulls: Vec<PullRef>,
    },
    /// Another actor's order: a deploy, an automatic restart.
    Order(Order),
    /// An entry in the change list of a component, with no other consequence.
    Note {
        /// The component.
        component: InstanceId,
        /// The entry.
        text: String,
    },
}

/// A lever pull to let go of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRef {
    /// The component whose lever it is.
    pub target: InstanceId,
    /// Its id.
    pub id: u64,
}

/// What harm costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stakes {
    /// Least harm that counts as the whole of the score, user-minutes, > 0.
    pub stake: f64,
    /// Price of one replica-minute beyond the replicas at the start, user-minutes, ≥ 0.
    pub capacity_price: f64,
    /// Seconds before `end` in which every objective must hold.
    pub slo_hold_s: u32,
}

/// What is true. Never shown to the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// [`CANARY`].
    pub canary: String,
    /// The causes; empty where nothing is wrong.
    pub causes: Vec<Cause>,
    /// Where the causes can be seen.
    pub evidence: Vec<Evidence>,
    /// A plan that ends the harm.
    pub reference: Vec<Action>,
    /// Plans that do not.
    pub wrong: Vec<WrongPlan>,
}

/// One cause, to compare claims with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// The component where it lies.
    pub component: Option<InstanceId>,
    /// Or the edge.
    pub edge: Option<EdgeId>,
    /// Its coarse class.
    pub class: CauseClass,
    /// When it began.
    pub onset: Tick,
}

/// Where a cause can be seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// At which component.
    pub component: InstanceId,
    /// In which of its signals.
    pub signal: Option<String>,
    /// In which log lines (a part of their text).
    pub log: Option<String>,
    /// What it shows.
    pub shows: String,
}

/// A plausible plan that does not end the harm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrongPlan {
    /// What it does instead.
    pub label: WrongLabel,
    /// The plan.
    pub plan: Vec<Action>,
    /// Why one would try it, and why it does not work.
    pub why: String,
}

/// What a wrong plan does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WrongLabel {
    /// Worse than doing nothing by more than 1 % of the stake.
    Harmful,
    /// Within 1 % of doing nothing.
    Useless,
    /// Helps, but scores at most one half.
    Palliative,
}

impl Scenario {
    /// Canonical JSON of the whole scenario.
    ///
    /// # Errors
    /// Only where a number is not finite: a defect of the resolver.
    pub fn canonical(&self) -> Result<String, serde_json::Error> {
        serde_json::to_value(self).map(|value| json::canonical(&value))
    }

    /// Digest of the canonical JSON: equal for equal scenarios, whatever file they came from.
    ///
    /// # Errors
    /// As [`Scenario::canonical`].
    pub fn hash(&self) -> Result<Digest, serde_json::Error> {
        self.canonical().map(|text| Digester::of(text.as_bytes()))
    }
}
