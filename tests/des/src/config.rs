//! What is simulated: plain structs, all times in seconds, all rates per second. No behavior but a
//! check that the parts fit together.

use crate::schedule::Schedule;

/// A system and its users.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Same seed, same configuration: same output.
    pub seed: u64,
    /// Length of the run, s.
    pub end: f64,
    /// Length of a row of the output, s.
    pub interval: f64,
    /// The tiers; edges name them by index.
    pub tiers: Vec<Tier>,
    /// The classes of users; errors, calls and work name them by index.
    pub classes: Vec<Class>,
}

/// Users of one kind. A shed user counts as offered and failed, and does not try again.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// For messages.
    pub name: String,
    /// How they arrive.
    pub users: Users,
    /// Share of users that is let in, 0..1.
    pub admit: Schedule,
    /// Their call: patience is its time-out. Its `calls` are not looked at: a user calls once.
    pub entry: Edge,
}

/// Where users come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Users {
    /// Poisson arrivals, whatever the system answers.
    Open {
        /// Arrivals per second.
        rate: Schedule,
    },
    /// A fixed crowd, each thinking (exponentially) before each request.
    Closed {
        /// Number of users.
        count: u32,
        /// Mean time between an answer and the next request, s.
        think: f64,
    },
}

/// A tier: replicas with slots, a queue, own work, then calls one after the other. A request holds
/// its slot until its last call is answered. A failed call (but for optional edges) ends it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tier {
    /// For messages.
    pub name: String,
    /// Replica groups, normally one. Each request, so each attempt, draws its replica afresh.
    pub groups: Vec<Group>,
    /// Slots of each replica: requests that it works on at a time.
    pub slots: u32,
    /// Places of the tier's queue (FIFO). Shared by all replicas or, if these are balanced, divided
    /// evenly among the replicas there are (rounded down).
    pub queue: u32,
    /// Who gets an arriving request.
    pub balance: Balance,
    /// Mean own work per request, s.
    pub work: f64,
    /// Distribution of own work.
    pub spread: Spread,
    /// Factor on own work per class; classes that are not listed have 1.
    pub work_scale: Vec<f64>,
    /// φ, above 0: own work that starts now is divided by it. Work under way keeps its pace.
    pub speed: Schedule,
    /// Own errors per class, 0..1, decided after own work and before any call; not listed: 0.
    pub errors: Vec<Schedule>,
    /// Calls, in this order.
    pub edges: Vec<Edge>,
    /// Instants (s) at which the queue is dropped: its requests are answered as refused.
    pub flushes: Vec<f64>,
    /// Instants (s) at which also running requests are dropped, and pools, breakers and budgets of
    /// the tier's edges begin anew. Takes no time: for downtime schedule the replicas.
    pub restarts: Vec<f64>,
}

/// Replicas that behave alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Number of replicas (rounded). Fewer: running work ends, nothing new begins. None in the
    /// whole tier: the queue is dropped and arrivals are refused.
    pub replicas: Schedule,
    /// Factor on own work.
    pub slow: Schedule,
    /// Error probability beside that of the class, 0..1.
    pub error: Schedule,
}

/// How arriving requests find a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balance {
    /// One queue for all; a request goes to a random free slot.
    Shared,
    /// A queue per replica; a random one is chosen.
    Random,
    /// A queue per replica, in turn.
    RoundRobin,
    /// A queue per replica; the emptier of two random ones is chosen.
    TwoChoices,
}

/// Distribution of own work around its mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// Always the mean.
    Constant,
    /// Exponential.
    Exponential,
    /// Lognormal with this coefficient of variation.
    Lognormal(f64),
    /// Gamma with this coefficient of variation.
    Gamma(f64),
}

/// Calls of one tier (or of a class of users) to another. A refused attempt is answered at once;
/// after a time-out the caller goes on, and so does the callee with the abandoned request.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// Index of the called tier.
    pub to: usize,
    /// Calls per request and class, 2.3 being two and a third one with probability 0.3; classes
    /// that are not listed have 1.
    pub calls: Vec<f64>,
    /// Time-out of an attempt, s, from the moment it has a connection; infinite: none.
    pub timeout: Schedule,
    /// Retries of a call after its first attempt (rounded).
    pub retries: Schedule,
    /// Mean pause before a retry, s; 0: at once.
    pub backoff: Schedule,
    /// The pause is uniform between 0 and twice the mean, instead of fixed.
    pub jitter: bool,
    /// Attempts carry a deadline: their time-out, or the caller's own deadline if earlier. Requests
    /// past it are discarded when a slot would take them, and callers past theirs call no more.
    pub deadline: bool,
    /// A failed call does not fail the request.
    pub optional: bool,
    /// Limit on retries, of all replicas of the caller together.
    pub budget: Option<Budget>,
    /// Circuit breaker, of all replicas of the caller together.
    pub breaker: Option<Breaker>,
    /// Connection pool, of all replicas of the caller together.
    pub pool: Option<Pool>,
    /// Delay on the way to the callee, s; counts for the time-out.
    pub delay: Schedule,
    /// Probability that an attempt gets lost on the way: the caller waits for its time-out.
    pub loss: Schedule,
    /// Probability that an attempt is answered with an error at once, on the way.
    pub abort: Schedule,
}

/// Retry budget: a token bucket, full at the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// β: tokens per successful call. Each retry takes one; infinite: no limit.
    pub share: Schedule,
    /// Most tokens.
    pub cap: f64,
}

/// Circuit breaker. A rejected call fails at once and is not retried. Half-open, it lets `probes`
/// attempts pass; one failure opens it again, as many successes close it. Attempts begun before
/// count like probes if they end meanwhile.
#[derive(Debug, Clone, PartialEq)]
pub struct Breaker {
    /// Switched on at this instant, s.
    pub from: f64,
    /// Opens above this share of failed attempts, 0..1.
    pub threshold: f64,
    /// Time over which the share is taken, s (sliding, in tenths).
    pub window: f64,
    /// Attempts in the window below which it stays closed.
    pub volume: u32,
    /// Time that it stays open, s.
    pub open: f64,
    /// Attempts that are let through to find out whether to close.
    pub probes: u32,
}

/// Connection pool: an attempt holds a connection until it is answered or given up. Waiting
/// callers get connections in turn; a wait that is too long is a failed attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// Connections.
    pub size: u32,
    /// Longest wait for one, s.
    pub acquire: f64,
    /// Probability that an attempt does not give its connection back.
    pub leak: Schedule,
}

impl Default for Config {
    /// A run of 60 s in rows of 1 s, without tiers and users.
    fn default() -> Self {
        Self { seed: 1, end: 60.0, interval: 1.0, tiers: Vec::new(), classes: Vec::new() }
    }
}

impl Default for Class {
    /// All users are let in, none arrive, and they have all the patience in the world.
    fn default() -> Self {
        Self {
            name: String::new(),
            users: Users::Open { rate: 0.0.into() },
            admit: 1.0.into(),
            entry: Edge::default(),
        }
    }
}

impl Default for Tier {
    /// One replica of one slot, no queue, 10 ms of exponential work, no errors, no calls.
    fn default() -> Self {
        Self {
            name: String::new(),
            groups: vec![Group::default()],
            slots: 1,
            queue: 0,
            balance: Balance::Shared,
            work: 0.01,
            spread: Spread::Exponential,
            work_scale: Vec::new(),
            speed: 1.0.into(),
            errors: Vec::new(),
            edges: Vec::new(),
            flushes: Vec::new(),
            restarts: Vec::new(),
        }
    }
}

impl Default for Group {
    /// One healthy replica.
    fn default() -> Self {
        Self { replicas: 1.0.into(), slow: 1.0.into(), error: 0.0.into() }
    }
}

impl Default for Edge {
    /// One call without time-out, retries, guards or faults.
    fn default() -> Self {
        Self {
            to: 0,
            calls: Vec::new(),
            timeout: f64::INFINITY.into(),
            retries: 0.0.into(),
            backoff: 0.0.into(),
            jitter: true,
            deadline: false,
            optional: false,
            budget: None,
            breaker: None,
            pool: None,
            delay: 0.0.into(),
            loss: 0.0.into(),
            abort: 0.0.into(),
        }
    }
}

impl Config {
    /// All edges: those of the tiers in order, then the entry of each class.
    pub(crate) fn edges(&self) -> impl Iterator<Item = &Edge> {
        let inner = self.tiers.iter().flat_map(|tier| &tier.edges);
        inner.chain(self.classes.iter().map(|class| &class.entry))
    }

    /// Panics with the reason if the parts do not fit together.
    pub(crate) fn check(&self) {
        assert!(self.interval > 0.0 && self.end.is_finite(), "a run needs an end and an interval");
        for tier in &self.tiers {
            assert!(tier.slots > 0, "tier {}: no slots", tier.name);
            assert!(tier.speed.values().all(|v| v > 0.0), "tier {}: speed 0", tier.name);
        }
        for (from, tier) in self.tiers.iter().enumerate() {
            // Requests that call in circles would hold slots and wait for slots of the same tier.
            assert!(tier.edges.iter().all(|e| e.to > from), "tier {}: calls backward", tier.name);
        }
        for edge in self.edges() {
            assert!(edge.to < self.tiers.len(), "an edge leads to tier {}: there is none", edge.to);
            let lossless = edge.loss.values().all(|v| v <= 0.0);
            let patient = edge.timeout.values().any(f64::is_infinite);
            assert!(lossless || !patient, "an edge that loses requests needs a time-out");
        }
    }
}
