//! The format of scenario and topology files: the tables that [`crate::grammar`] walks. What a
//! field means stands in its `doc` and nowhere else.

use crate::grammar::{Field, Free, Shape};
use action::CauseClass;
use model::{ParamDefault, ParamKind, ParamSpec};

const TEXT: Shape = Shape::Scalar(ParamKind::Text);
const RATIO: Shape = Shape::Scalar(ParamKind::Ratio);
const DURATION: Shape = Shape::Scalar(ParamKind::Duration { min: 0.0, max: 86_400.0 });
/// A time on the episode's clock; 0 is the page.
const TIME: Shape = Shape::Scalar(ParamKind::Duration { min: -86_400.0, max: 86_400.0 });
const POSITIVE: Shape = Shape::Scalar(ParamKind::Number { min: 0.001, max: 1e9 });
const ZERO_UP: Shape = Shape::Scalar(ParamKind::Number { min: 0.0, max: 1e9 });
const SURGE: Shape = Shape::Scalar(ParamKind::Number { min: 0.0, max: 1e4 });
const FLAG: Shape = Shape::Scalar(ParamKind::Flag);
const OVERRIDE: Shape = Shape::Map(&Shape::Free(Free::Override));
const CLASSES: Shape = Shape::Or("all", &Shape::List(&TEXT));
const WINDOW: Shape = Shape::Scalar(ParamKind::Duration { min: 1.0, max: 86_400.0 });

/// Policy of an edge: how a caller calls.
pub const POLICY: &[ParamSpec] = &[
    ParamSpec::number(
        "timeout",
        ParamKind::Duration { min: 0.001, max: 60.0 },
        1.0,
        "Time-out of one attempt.",
    ),
    ParamSpec::number(
        "retries",
        ParamKind::Count { min: 0, max: 10 },
        0.0,
        "Attempts after the first.",
    ),
    ParamSpec::number(
        "backoff",
        ParamKind::Duration { min: 0.0, max: 60.0 },
        0.0,
        "Mean wait before each retry.",
    ),
    ParamSpec::optional(
        "retry_budget",
        ParamKind::Ratio,
        "Retries allowed per success; absent: unlimited.",
    ),
    ParamSpec::flag(
        "propagate_deadline",
        false,
        "Attempts carry the caller's deadline, and the callee drops expired work.",
    ),
];

/// When a breaker opens and how it probes.
pub const BREAKER: &[ParamSpec] = &[
    ParamSpec::number("failure_ratio", ParamKind::Ratio, 0.5, "Opens above this share."),
    ParamSpec::number(
        "volume_min",
        ParamKind::Number { min: 0.0, max: 1e6 },
        5.0,
        "And at least this many attempts per second.",
    ),
    ParamSpec::number(
        "open",
        ParamKind::Duration { min: 1.0, max: 3600.0 },
        10.0,
        "How long it stays open before it probes.",
    ),
    ParamSpec::number("probe_ratio", ParamKind::Ratio, 0.05, "Share let through to probe."),
];

/// The connections of one edge.
pub const POOL: &[ParamSpec] = &[
    ParamSpec::number(
        "size",
        ParamKind::Number { min: 1.0, max: 1e6 },
        64.0,
        "Connections of all replicas of the caller together.",
    ),
    ParamSpec::number(
        "acquire_timeout",
        ParamKind::Duration { min: 0.001, max: 600.0 },
        5.0,
        "Longest wait for a connection.",
    ),
];

const fn policy(at: usize) -> Field {
    let spec = POLICY[at];
    Field::optional(spec.name, Shape::Scalar(spec.kind), spec.doc)
}

const EDGE: &[Field] = &[
    Field::required("from", TEXT, "The caller, or `users`."),
    Field::required("to", TEXT, "The callee."),
    Field::optional("operation", TEXT, "What is asked of it; absent: the only one of its kind."),
    Field::optional(
        "calls",
        Shape::Map(&Shape::Scalar(ParamKind::Number { min: 0.0, max: 1000.0 })),
        "Calls per request by class or route, `*` for the rest; absent: one of each.",
    ),
    Field::optional(
        "breaker",
        Shape::Params(BREAKER),
        "A circuit breaker, perhaps with other values than the usual ones; absent: none.",
    ),
    Field::optional("pool", Shape::Params(POOL), "A connection pool; absent: unlimited."),
    policy(0),
    policy(1),
    policy(2),
    policy(3),
    policy(4),
];

const NAME: &[Field] = &[
    Field::required("component", TEXT, "Whose name it is."),
    Field::required("resolver", TEXT, "The component that answers for it."),
    Field::optional(
        "ttl",
        Shape::Scalar(ParamKind::Duration { min: 1.0, max: 86_400.0 }),
        "How long a cache keeps the answer; absent: 60s.",
    ),
];

const GROUP: &[Field] = &[
    Field::required("name", TEXT, "Its name."),
    Field::optional("version", TEXT, "Its version; absent: the component's."),
    Field::optional("host", TEXT, "Its host; absent: the component's."),
    Field::optional("replicas", REPLICAS, "How many; absent: 1."),
];

const REPLICAS: Shape = Shape::Scalar(ParamKind::Count { min: 1, max: 64 });

/// Fields of a component besides its kind's parameters.
pub const COMPONENT: &[Field] = &[
    Field::required("kind", TEXT, "Its kind; its parameters stand beside it."),
    Field::optional("replicas", REPLICAS, "How many; absent: 1."),
    Field::optional("host", TEXT, "Where they run; absent: on the first host."),
    Field::optional("version", TEXT, "Their version; absent: v1."),
    Field::optional(
        "groups",
        Shape::List(&Shape::Record(GROUP)),
        "Replica groups instead of `replicas`, at most 4; absent: one called stable.",
    ),
];

const CLASS: &[Field] = &[
    Field::optional("route", TEXT, "The route; absent: its name up to a slash."),
    Field::optional("cohort", TEXT, "The cohort of users; absent: all."),
    Field::optional("weight", ZERO_UP, "User-minutes per lost request minute; 0: abusive."),
    Field::required(
        "objective",
        Shape::Scalar(ParamKind::Duration { min: 0.001, max: 600.0 }),
        "Later answers are not good.",
    ),
    Field::required(
        "patience",
        Shape::Scalar(ParamKind::Duration { min: 0.001, max: 600.0 }),
        "The user gives up after this long.",
    ),
    Field::optional(
        "retries",
        Shape::Scalar(ParamKind::Count { min: 0, max: 10 }),
        "Attempts of the client after the first; absent: 0.",
    ),
    Field::optional("backoff", DURATION, "Mean wait before each; absent: 0."),
    Field::optional("entry", TEXT, "Where it enters; absent: the only edge from users."),
    Field::optional("writes", FLAG, "Its requests write; absent: false."),
];

/// A topology file.
pub const TOPOLOGY: Shape = Shape::Record(&[
    Field::optional("format", FORMAT, "Version of the format; absent: the present one."),
    Field::optional("summary", TEXT, "What system it is."),
    Field::optional(
        "hosts",
        Shape::Map(&Shape::Free(Free::Host)),
        "Hosts; absent: one large one, `host-1`.",
    ),
    Field::required("components", Shape::Map(&Shape::Open(COMPONENT)), "Components by name."),
    Field::required("edges", Shape::List(&Shape::Record(EDGE)), "Who calls whom."),
    Field::required("classes", Shape::Map(&Shape::Record(CLASS)), "Request classes, at most 8."),
    Field::optional(
        "names",
        Shape::Map(&Shape::Record(NAME)),
        "Names by which callers find components; absent: by their addresses.",
    ),
]);

const FORMAT: Shape = Shape::Scalar(ParamKind::Count { min: 1, max: 1000 });

const WORKLOAD: &[Field] = &[
    Field::required("demand", Shape::Map(&Shape::Rate), "Mean demand of every class."),
    Field::optional(
        "shape",
        Shape::Record(&[
            Field::optional("daily_amplitude", RATIO, "Relative height of the wave."),
            Field::optional("period", WINDOW, "Length of the wave; absent: a day."),
        ]),
        "A slow wave over all classes; absent: none.",
    ),
    Field::optional("hold", Shape::Span, "Length of pieces of equal demand; absent: 30s..60s."),
    Field::optional("jitter", RATIO, "Relative deviation of a piece; absent: 2%."),
    Field::optional("bursts", Shape::List(&Shape::Record(BURST)), "Steps in demand."),
];

const BURST: &[Field] = &[
    Field::required("at", TIME, "When it begins."),
    Field::required("for", WINDOW, "How long it lasts."),
    Field::optional("classes", CLASSES, "Which classes; absent: all."),
    Field::required("factor", SURGE, "Demand is this many times as large."),
];

const SLO: &[Field] = &[
    Field::required("name", TEXT, "Its name."),
    Field::optional("classes", CLASSES, "The classes that count; absent: all."),
    Field::required("objective", RATIO, "Share of requests that are to be good."),
    Field::optional("fast", WINDOW, "The short window; absent: 60s."),
    Field::optional("slow", WINDOW, "The long window; absent: 300s."),
    Field::optional("burn", POSITIVE, "Burn rate of a breach; absent: 10."),
];

const ABOVE: Field = Field::optional("above", Shape::Level, "It holds above this value.");
const BELOW: Field = Field::optional("below", Shape::Level, "It holds below this value.");
const SUBJECT: Field = Field::optional("on", TEXT, "A component, or `users`.");
const OF_SLO: Field = Field::optional("slo", TEXT, "Or an objective.");
const SIGNAL: Field = Field::required("signal", TEXT, "The signal.");
const FOR: Field = Field::optional("for", WINDOW, "How long it must hold; absent: 1s.");

const ALERT: &[Field] = &[
    Field::required("name", TEXT, "Its name."),
    Field::required(
        "severity",
        Shape::Scalar(ParamKind::Choice(&["page", "ticket"])),
        "Whom it wakes.",
    ),
    SUBJECT,
    OF_SLO,
    SIGNAL,
    ABOVE,
    BELOW,
    FOR,
    Field::required("summary", TEXT, "What it says."),
];

/// An event of a timeline or a recheck.
pub const EVENT: &[Field] = &[
    Field::optional("at", TIME, "When; in a recheck relative to its begin."),
    Field::optional(
        "when",
        Shape::Record(&[SUBJECT, OF_SLO, SIGNAL, ABOVE, BELOW, FOR, AFTER]),
        "Or the condition that starts it.",
    ),
    Field::optional("id", TEXT, "A name, for `clear`; absent: the fault's."),
    Field::optional("fault", TEXT, "A fault of the catalogue that begins."),
    Field::optional("clear", TEXT, "The id of a fault that ends."),
    Field::optional("order", TEXT, "An operation that somebody else orders."),
    Field::optional("note", TEXT, "An entry in a component's change list."),
    Field::optional("burst", SURGE, "A factor on demand; with `for` and `classes`."),
    Field::optional("on", TEXT, "The component, or the edge as `caller -> callee`."),
    Field::optional(
        "with",
        Shape::Free(Free::With),
        "Parameters of the fault, or arguments of the order.",
    ),
    Field::optional("classes", CLASSES, "The classes of a burst; absent: all."),
    Field::optional("for", WINDOW, "A fault or burst ends after this long."),
    Field::optional("until", TIME, "Or at this time."),
];

const AFTER: Field = Field::optional("after", TIME, "Times before do not count; absent: 0s.");

const OVERRIDES: &[Field] = &[
    Field::optional("hosts", OVERRIDE, "Parameters of hosts by name."),
    Field::optional("components", OVERRIDE, "Fields of components by name."),
    Field::optional("edges", OVERRIDE, "Fields of edges by `caller -> callee`."),
    Field::optional("classes", OVERRIDE, "Fields of classes by name."),
    Field::optional("names", OVERRIDE, "Fields of names by name."),
];

const CAUSE: &[Field] = &[
    Field::required("on", TEXT, "The component, or the edge as `caller -> callee`."),
    Field::required(
        "class",
        Shape::Scalar(ParamKind::Choice(CauseClass::NAMES)),
        "Its coarse class.",
    ),
    Field::required("onset", TIME, "When it began."),
];

const EVIDENCE: &[Field] = &[
    Field::required("on", TEXT, "The component."),
    Field::optional("signal", TEXT, "One of its signals."),
    Field::optional("log", TEXT, "A part of one of its log lines."),
    Field::required("shows", TEXT, "What it shows."),
];

const WRONG: &[Field] = &[
    Field::required(
        "label",
        Shape::Scalar(ParamKind::Choice(&["harmful", "useless", "palliative"])),
        "What it does instead.",
    ),
    Field::required("plan", PLAN, "The plan."),
    Field::required("why", Shape::Prose, "Why one would try it, and why it does not work."),
];

const PLAN: Shape = Shape::List(&Shape::Free(Free::Action));

/// A scenario file.
pub const SCENARIO: Shape = Shape::Record(&[
    Field::optional("format", FORMAT, "Version of the format; absent: the present one."),
    Field::required("title", TEXT, "What it is, for people."),
    Field::required("summary", Shape::Prose, "What happens, for people."),
    Field::required(
        "tier",
        Shape::Scalar(ParamKind::Count { min: 0, max: 4 }),
        "0 nothing wrong, 1 one fault, 2 a twin or decoys, 3 a loop, 4 several faults.",
    ),
    Field::optional("healthy", FLAG, "Nothing is broken; absent: true for tier 0 only."),
    Field::required("topology", Shape::NameOr(&TOPOLOGY), "A topology's name, or one of its own."),
    Field::optional("overrides", Shape::Record(OVERRIDES), "What differs from that topology."),
    Field::required("workload", Shape::Record(WORKLOAD), "What users want."),
    Field::required("slos", Shape::List(&Shape::Record(SLO)), "Objectives."),
    Field::required("alerts", Shape::List(&Shape::Record(ALERT)), "Rules; one pages at time 0."),
    Field::optional("timeline", Shape::List(&Shape::Record(EVENT)), "What happens."),
    Field::optional(
        "recheck",
        Shape::Or("hold", &Shape::List(&Shape::Record(EVENT))),
        "What happens in the tail, from a minute after the horizon on; absent: nothing.",
    ),
    Field::optional("warmup", WINDOW, "Time before the page; absent: 300s."),
    Field::required("horizon", WINDOW, "Time of the agent."),
    Field::optional("tail", WINDOW, "Time after it, at least 300s; absent: 300s."),
    Field::optional(
        "step_limit",
        Shape::Scalar(ParamKind::Count { min: 1, max: 10_000 }),
        "Most steps of the agent; absent: 60.",
    ),
    Field::required("stake", POSITIVE, "Least harm that counts as all, user-minutes."),
    Field::optional("capacity_price", ZERO_UP, "Of a replica-minute, user-minutes; absent: 0."),
    Field::optional("slo_hold", WINDOW, "Objectives hold at the end this long; absent: 120s."),
    Field::optional("causes", Shape::List(&Shape::Record(CAUSE)), "What is wrong, for claims."),
    Field::optional("evidence", Shape::List(&Shape::Record(EVIDENCE)), "Where it can be seen."),
    Field::optional("reference", PLAN, "A plan that ends the harm: actions, waits included."),
    Field::optional("wrong", Shape::List(&Shape::Record(WRONG)), "Plans that do not."),
]);

/// The number that stands for an absent parameter of these lists.
pub fn default_of(specs: &[ParamSpec], name: &str) -> f64 {
    match specs.iter().find(|spec| spec.name == name).and_then(|spec| spec.default) {
        Some(ParamDefault::Number(number)) => number,
        _ => 0.0,
    }
}
