//! The plan of one hop: a pure function of the published past, the hop and the replies so far. It
//! draws from the same distributions that the station's row describes, so that many requests agree
//! with the flow plane. The past of tick t − 1 is read, as the flow plane did.

use crate::keys::{self, EdgeKey};
use crate::signals;
use flow::latency_draw;
use machine::Past;
use model::{
    COLUMNS_MAX, Call, Code, EdgeFault, EdgeSpec, Hop, HopReply, Next, Noise, Setup, Tick, Verdict,
};
use telemetry::Levels;

/// What a kind knows about its own failures.
#[derive(Clone, Copy, Debug)]
pub struct OwnFailure {
    /// The status callers get.
    pub code: Code,
    /// A sentence for logs.
    pub message: &'static str,
}

/// What is a kind's own in the plan of a hop.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// How a request that fails there by itself looks to its caller.
    pub failure: OwnFailure,
    /// Share of the topology's calls over an edge that a request of a class makes.
    pub calls_made: fn(&PastOf<'_>, usize, usize) -> f64,
}

/// The published past of one instance at one tick.
#[derive(Clone, Debug)]
pub struct PastOf<'a> {
    /// The instance.
    pub setup: &'a Setup,
    /// Its history row.
    pub row: [f64; COLUMNS_MAX],
    /// Its levels.
    pub levels: Levels,
}

/// Everything a plan reads, gathered once.
struct View<'a> {
    past: PastOf<'a>,
    hop: &'a Hop,
    own: Own,
    /// The branch of the noise for this request and path.
    noise: Noise,
}

/// Draws are numbered: each purpose has its own.
#[derive(Clone, Copy)]
enum Draw {
    Turned,
    Refused,
    Group,
    Own,
    Error,
    Lock,
}

/// The next step of `hop` at the server with this setup.
pub fn plan(setup: &Setup, own: Own, past: &Past<'_>, hop: &Hop, replies: &[HopReply]) -> Next {
    let row = past.history.row(Tick(hop.tick.0 - 1));
    walk(setup, own, past, row, hop, replies)
}

/// The same for a handler that takes what it wants when it wants it: nothing waits in front of it,
/// whatever its kind says in the columns of a station's queue.
pub fn handle(setup: &Setup, own: Own, past: &Past<'_>, hop: &Hop, replies: &[HopReply]) -> Next {
    let mut row = past.history.row(Tick(hop.tick.0 - 1));
    for column in [signals::REFUSED, signals::WAIT, signals::WAIT_SD] {
        row[column] = 0.0;
    }
    walk(setup, own, past, row, hop, replies)
}

fn walk(
    setup: &Setup,
    own: Own,
    past: &Past<'_>,
    row: [f64; COLUMNS_MAX],
    hop: &Hop,
    replies: &[HopReply],
) -> Next {
    let noise = past.noise.branch("plan").index(hop.request).index(hop.path);
    let levels = past.history.levels(Tick(hop.tick.0 - 1));
    let past = PastOf { setup, row, levels };
    let view = View { past, hop, own, noise };
    let mut walk = match view.begin() {
        Ok(walk) => walk,
        Err(reply) => return Next::Settle(reply),
    };
    for (k, edge) in setup.outgoing.iter().enumerate() {
        for call in 0..view.calls(k, edge) {
            match view.call(&mut walk, k, edge, call, replies) {
                Progress::Answered => {}
                Progress::Wait(next) => return Next::Call(vec![next]),
                Progress::Failed(code, message) => {
                    return Next::Settle(view.settle(code, walk.elapsed_s, message));
                }
            }
        }
    }
    Next::Settle(view.settle(Code::Ok, walk.elapsed_s, String::new()))
}

/// The name by which the callee of edge number `k` is found; its own where it has none.
pub(crate) fn hostname(setup: &Setup, k: usize) -> &str {
    let named = setup.hostnames.get(k).and_then(Option::as_deref);
    named.unwrap_or_else(|| setup.callees.get(k).map_or("", String::as_str))
}

/// How far the hop has come.
struct Walk {
    elapsed_s: f64,
    used: usize,
}

enum Progress {
    Answered,
    Wait(Call),
    Failed(Code, String),
}

impl View<'_> {
    fn unit(&self, draw: Draw) -> f64 {
        self.noise.unit(draw as i64)
    }

    fn level(&self, key: u16, default: f64) -> f64 {
        self.past.levels.get(key, default)
    }

    fn edge_level(&self, k: usize, key: EdgeKey, default: f64) -> f64 {
        self.level(keys::edge(k, key), default)
    }

    /// The queue and the own work, or why the hop ends here.
    fn begin(&self) -> Result<Walk, HopReply> {
        let class = u16::from(self.hop.class.0);
        let (instant, row) = (0.000_1, &self.past.row);
        if self.running() <= 0.0 {
            return Err(self.settle(Code::Unavailable, instant, "connection refused".into()));
        }
        if self.unit(Draw::Turned) < self.level(keys::REFUSE + class, 0.0) {
            return Err(self.settle(Code::ResourceExhausted, instant, "turned away".into()));
        }
        if self.unit(Draw::Refused) < row[signals::REFUSED] {
            return Err(self.settle(Code::ResourceExhausted, instant, "queue is full".into()));
        }
        let (slow, error) = self.group();
        let mean = self.past.setup.spec.params.number("service_time");
        let cv = self.past.setup.spec.params.number("service_cv");
        let own = mean * slow * self.level(keys::CLASS_SLOW + class, 1.0);
        let lock = self.level(keys::LOCK + class, 0.0);
        let (wait, sd) = (row[signals::WAIT], row[signals::WAIT_SD]);
        let var = sd * sd + own * own * cv * cv;
        let mut elapsed_s = latency_draw(wait + own, var, self.unit(Draw::Own));
        if lock > 0.0 {
            // Of exponential length, as the station has it.
            elapsed_s += latency_draw(lock, lock * lock, self.unit(Draw::Lock));
        }
        let error_class = self.level(keys::CLASS_ERROR + class, 0.0);
        let error = error + error_class - error * error_class;
        if self.unit(Draw::Error) < error {
            let failure = self.own.failure;
            return Err(self.settle(failure.code, elapsed_s, failure.message.into()));
        }
        Ok(Walk { elapsed_s, used: 0 })
    }

    /// Replicas that take requests.
    fn running(&self) -> f64 {
        let groups = self.past.setup.spec.groups.iter().enumerate();
        let at_start = |g: &model::GroupSpec| f64::from(g.replicas);
        groups.map(|(at, g)| self.level(keys::RUNNING + at as u16, at_start(g))).sum()
    }

    /// The slow factor and the error share of the replica group that this request meets.
    fn group(&self) -> (f64, f64) {
        let groups = self.past.setup.spec.groups.len() as u16;
        let share = |g: u16| {
            let at_start = f64::from(self.past.setup.spec.groups[usize::from(g)].replicas);
            self.level(keys::GROUP_SHARE + g, at_start)
        };
        let all: f64 = (0..groups).map(share).sum();
        let mut left = self.unit(Draw::Group) * all;
        for g in 0..groups {
            left -= share(g);
            if left < 0.0 || g + 1 == groups {
                let slow = self.level(keys::GROUP_SLOW + g, 1.0);
                return (slow, self.level(keys::GROUP_ERROR + g, 0.0));
            }
        }
        (1.0, 0.0)
    }

    /// How many calls this request makes over edge number `k`.
    fn calls(&self, k: usize, edge: &EdgeSpec) -> u32 {
        let class = self.hop.class.at();
        let mean = edge.calls[class] * (self.own.calls_made)(&self.past, k, class);
        let whole = mean as u32;
        let draw = self.noise.branch("calls").index(k as u64).unit(0);
        whole + u32::from(draw < mean - f64::from(whole))
    }

    /// One call with all its attempts, as far as the replies go.
    fn call(
        &self,
        walk: &mut Walk,
        k: usize,
        edge: &EdgeSpec,
        call: u32,
        replies: &[HopReply],
    ) -> Progress {
        let noise = self.noise.branch("edge").index(k as u64).index(u64::from(call));
        let policy = &edge.policy;
        let timeout_s = self.edge_level(k, EdgeKey::Timeout, policy.timeout_s);
        let retries = self.edge_level(k, EdgeKey::Retries, f64::from(policy.retries)) as u32;
        let backoff_s = self.edge_level(k, EdgeKey::Backoff, policy.backoff_s);
        let granted = self.edge_level(k, EdgeKey::Granted, 1.0);
        let callee = &self.past.setup.callees[k];
        if noise.unit(-1) >= self.edge_level(k, EdgeKey::Passed, 1.0) {
            let text = format!("breaker open, {callee} not called");
            return Progress::Failed(Code::Unavailable, text);
        }
        let mut last = (Code::Unavailable, format!("no connection to {callee} within the limit"));
        let (missing, astray) = self.lookup(k, &noise);
        if missing {
            last.1 = format!("lookup {}: no such host", hostname(self.past.setup, k));
        }
        for attempt in 0..=retries {
            let draws = noise.index(u64::from(attempt));
            if attempt > 0 {
                if draws.unit(3) >= granted {
                    break;
                }
                walk.elapsed_s += 2.0 * backoff_s * draws.unit(4);
            }
            if missing || draws.unit(2) < self.edge_level(k, EdgeKey::NoConnection, 0.0) {
                continue;
            }
            let Some(reply) = replies.get(walk.used) else {
                let verdict = match astray {
                    true => Verdict::DropRequest,
                    false => self.fault(k).verdict(draws.unit(0), draws.unit(1)),
                };
                return Progress::Wait(Call {
                    edge: edge.id,
                    to: edge.to,
                    operation: edge.operation.clone(),
                    attempt: call * 16 + attempt,
                    deadline_s: timeout_s,
                    verdict,
                    start_s: walk.elapsed_s,
                });
            };
            walk.used += 1;
            walk.elapsed_s += reply.latency_s;
            if reply.code == Code::Ok {
                return Progress::Answered;
            }
            let (n, of) = (attempt + 1, retries + 1);
            last = (reply.code, format!("{callee}: {} (attempt {n} of {of})", reply.code.name()));
        }
        let code = if last.0 == Code::ResourceExhausted { Code::Unavailable } else { last.0 };
        Progress::Failed(code, last.1)
    }

    /// Whether this call gets no address for the callee's name, or a wrong one: all its attempts
    /// get the same.
    fn lookup(&self, k: usize, noise: &Noise) -> (bool, bool) {
        let draw = noise.unit(-2);
        let missing = self.edge_level(k, EdgeKey::NameMissing, 0.0);
        let astray = self.edge_level(k, EdgeKey::NameAstray, 0.0);
        (draw < missing, (missing..missing + astray).contains(&draw))
    }

    fn fault(&self, k: usize) -> EdgeFault {
        EdgeFault {
            delay_s: self.edge_level(k, EdgeKey::Delay, 0.0),
            request_loss: self.edge_level(k, EdgeKey::RequestLoss, 0.0),
            reply_loss: self.edge_level(k, EdgeKey::ReplyLoss, 0.0),
            abort: self.edge_level(k, EdgeKey::Abort, 0.0),
        }
    }

    /// Spans are the walk's affair.
    fn settle(&self, code: Code, latency_s: f64, message: String) -> HopReply {
        HopReply { code, latency_s, message, spans: Vec::new() }
    }
}
