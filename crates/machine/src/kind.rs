//! [`Machine`] and [`Kind`]. A machine reads no clock, does no IO, owns no generator, and iterates
//! nothing in hash order; what it may use is in its arguments.

use crate::snapshot::SnapshotError;
use model::{
    Answer, Digest, Hop, HopReply, Inbox, LeverPull, Next, Noise, Order, Outbox, ParamError,
    ParamSpec, Query, Refusal, Setup, Tick,
};
use std::collections::BTreeMap;
use telemetry::{Change, ColumnSpec, History, SignalSpec};

/// What a machine is told while it moves: the tick, the length of the round, and a place for
/// changes. Nothing else.
#[derive(Debug)]
pub struct Cx<'a> {
    tick: Tick,
    delta_s: f64,
    changes: &'a mut Vec<Change>,
}

impl<'a> Cx<'a> {
    /// Made by the driver only.
    pub(crate) fn new(tick: Tick, delta_s: f64, changes: &'a mut Vec<Change>) -> Cx<'a> {
        Cx { tick, delta_s, changes }
    }

    /// The present tick.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// Length of the round, seconds: 1, or ¼ while something moves.
    pub fn delta_s(&self) -> f64 {
        self.delta_s
    }

    /// Notes that `key` has `value` from this tick on. A `note` that is not empty appears in the
    /// change list that monitoring shows.
    pub fn emit(&mut self, key: u16, value: f64, note: impl Into<String>) {
        self.changes.push(Change { tick: self.tick, key, value, note: note.into() });
    }
}

/// The published past: all that `plan`, logs and series may read.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    /// Rows and changes so far.
    pub history: &'a History,
    /// The instance's branch of the episode's noise.
    pub noise: Noise,
    /// The first tick that is not over yet.
    pub now: Tick,
}

/// The pure behavior of one instance.
pub trait Machine: std::fmt::Debug + Send + Sync {
    /// One round of the flow plane. Everything in `inbox` is of the previous round. `out` holds
    /// this machine's previous outbox and is overwritten in place.
    fn round(&mut self, cx: &mut Cx<'_>, inbox: &Inbox, out: &mut Outbox);

    /// Would [`Machine::operate`] do this now? Asked when the order is given.
    ///
    /// # Errors
    /// A sentence for the one who ordered.
    fn accepts(&self, order: &Order) -> Result<(), Refusal>;

    /// Does what was ordered; called when the order's delay is over.
    fn operate(&mut self, cx: &mut Cx<'_>, order: &Order);

    /// Pulls a lever.
    fn inject(&mut self, cx: &mut Cx<'_>, pull: &LeverPull);

    /// Lets go of a lever. Damage that it did may stay.
    fn clear(&mut self, cx: &mut Cx<'_>, pull: &LeverPull);

    /// Answers [`Query::Logs`], [`Query::Status`] and [`Query::Config`]; the driver answers the
    /// others. Never reads what a pulled lever is called.
    fn read(&self, past: &Past<'_>, query: &Query) -> Answer;

    /// Adds the facts of the truth, units at the end of their names.
    fn inspect(&self, facts: &mut BTreeMap<String, f64>);

    /// The next thing a hop of the request plane does, given all replies so far.
    fn plan(&self, past: &Past<'_>, hop: &Hop, replies: &[HopReply]) -> Next;

    /// The whole state.
    ///
    /// # Errors
    /// Where the state cannot be encoded: a defect of the machine.
    fn snapshot(&self) -> Result<Vec<u8>, SnapshotError>;

    /// Digest of what [`Machine::snapshot`] has.
    ///
    /// # Errors
    /// As [`Machine::snapshot`].
    fn digest(&self) -> Result<Digest, SnapshotError> {
        crate::digest("machine", &self.snapshot()?)
    }

    /// Takes the state of a snapshot of the same setup.
    ///
    /// # Errors
    /// Where the bytes are not such a snapshot; the state is then unchanged.
    fn restore(&mut self, bytes: &[u8]) -> Result<(), SnapshotError>;

    /// An independent copy.
    fn fork(&self) -> Box<dyn Machine>;
}

/// A lever of a kind: the handle that faults pull.
#[derive(Clone, Copy, Debug)]
pub struct LeverSpec {
    /// `kind.noun`, e.g. `db.lock`; the levers of edges are `edge.noun`.
    pub name: &'static str,
    /// What pulling it does.
    pub doc: &'static str,
    /// Its arguments.
    pub args: &'static [ParamSpec],
}

/// An operation of a kind: what orders may ask of it.
#[derive(Clone, Copy, Debug)]
pub struct OperationSpec {
    /// A verb, snake case.
    pub verb: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Its arguments.
    pub args: &'static [ParamSpec],
    /// Ticks from the order to its effect.
    pub delay: i64,
}

/// A kind of component.
pub trait Kind: std::fmt::Debug + Send + Sync {
    /// Its name, the folder of its service.
    fn name(&self) -> &'static str;
    /// One sentence.
    fn doc(&self) -> &'static str;
    /// Parameters of an instance.
    fn params(&self) -> &'static [ParamSpec];
    /// Its levers.
    fn levers(&self) -> &'static [LeverSpec];
    /// Its operations.
    fn operations(&self) -> &'static [OperationSpec];
    /// Operations of its request plane, e.g. `Verify`; empty where it serves no requests.
    fn rpcs(&self) -> &'static [&'static str];
    /// Third parties that it calls outside of the topology, by the name that orders use.
    fn third_parties(&self) -> &'static [&'static str] {
        &[]
    }
    /// Whether it answers for names of other components.
    fn resolves(&self) -> bool {
        false
    }
    /// Run by somebody else: instances have no hosts and no replicas here, and nobody here can
    /// restart, change or scale them.
    fn outside(&self) -> bool {
        false
    }
    /// History columns of an instance with this setup, at most [`model::COLUMNS_MAX`].
    fn columns(&self, setup: &Setup) -> Vec<ColumnSpec>;
    /// Its signals.
    fn signals(&self) -> &'static [SignalSpec];
    /// A machine in its first state.
    ///
    /// # Errors
    /// Names a parameter that does not fit the setup.
    fn create(&self, setup: &Setup) -> Result<Box<dyn Machine>, ParamError>;
}

/// The kinds a fleet has; scenario files and actions are checked against it.
pub trait Kinds: std::fmt::Debug + Send + Sync {
    /// All kinds, alphabetical.
    fn all(&self) -> &[&'static dyn Kind];

    /// The kind called `name`.
    fn find(&self, name: &str) -> Option<&'static dyn Kind> {
        self.all().iter().copied().find(|kind| kind.name() == name)
    }
}

impl Kinds for Vec<&'static dyn Kind> {
    fn all(&self) -> &[&'static dyn Kind] {
        self
    }
}

impl Kinds for &'static [&'static dyn Kind] {
    fn all(&self) -> &[&'static dyn Kind] {
        self
    }
}
