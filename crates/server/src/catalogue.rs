//! Parameters, levers and operations that every server kind has.

use machine::{LeverSpec, OperationSpec};
use model::{ParamKind, ParamSpec};

const MIB: f64 = 1_048_576.0;
const FACTOR: ParamKind = ParamKind::Number { min: 0.01, max: 10_000.0 };
const CLASS: ParamSpec =
    ParamSpec::text("class", ParamKind::Class, "", "Only this class or route; empty: all.");
const GROUP: ParamSpec =
    ParamSpec::text("group", ParamKind::Text, "", "Only this replica group; empty: all.");
const COUNT: ParamKind = ParamKind::Count { min: 1, max: 10 };
const PERIOD: ParamKind = ParamKind::Count { min: 1, max: 300 };
const FAILURES: ParamSpec =
    ParamSpec::optional("failures", COUNT, "Failed checks in a row that take a replica out.");
const FLOOR: ParamSpec = ParamSpec::optional(
    "floor",
    ParamKind::Ratio,
    "While a smaller share of the replicas is in rotation, all of them take requests.",
);
const PASSES: ParamSpec =
    ParamSpec::optional("passes", COUNT, "Passed checks in a row that bring it back.");
const CHECKED_EVERY: ParamSpec =
    ParamSpec::optional("period", PERIOD, "Seconds between two checks of one replica.");
const CHECK_TIMEOUT: ParamKind = ParamKind::Duration { min: 0.001, max: 60.0 };
const RATIO: ParamSpec = ParamSpec::required("ratio", ParamKind::Ratio, "Share of requests.");

/// Parameters of an instance.
pub const PARAMS: &[ParamSpec] = &[
    ParamSpec::number(
        "boot",
        ParamKind::Duration { min: 1.0, max: 600.0 },
        20.0,
        "From a process start to the first request served.",
    ),
    ParamSpec::number(
        "concurrency",
        ParamKind::Number { min: 1.0, max: 10_000.0 },
        64.0,
        "Slots (workers) of one replica.",
    ),
    ParamSpec::number("cpu_share", ParamKind::Ratio, 0.3, "Share of own work that burns CPU."),
    ParamSpec::number(
        "memory",
        ParamKind::Bytes { min: MIB, max: 1e12 },
        300.0 * MIB,
        "Memory of a fresh replica.",
    ),
    ParamSpec::number(
        "memory_limit",
        ParamKind::Bytes { min: MIB, max: 1e12 },
        1024.0 * MIB,
        "The host kills a replica above this.",
    ),
    ParamSpec::number(
        "outdated_errors",
        ParamKind::Ratio,
        0.12,
        "Share of requests that fail in a version older than the topology's: it lacks what callers \
         and data have come to need.",
    ),
    ParamSpec::number(
        "probe_failures",
        COUNT,
        3.0,
        "Failed health checks in a row that take a replica out of rotation.",
    ),
    ParamSpec::number(
        "probe_floor",
        ParamKind::Ratio,
        0.0,
        "While a smaller share of the replicas is in rotation, all of them take requests.",
    ),
    ParamSpec::number(
        "probe_passes",
        COUNT,
        2.0,
        "Passed health checks in a row that bring a replica back.",
    ),
    ParamSpec::number(
        "probe_period",
        PERIOD,
        5.0,
        "Seconds between two health checks of one replica.",
    ),
    ParamSpec::number(
        "probe_timeout",
        ParamKind::Duration { min: 0.0, max: 60.0 },
        0.0,
        "A health check that takes longer fails; 0: no balancer checks the replicas.",
    ),
    ParamSpec::number(
        "queue",
        ParamKind::Number { min: 0.0, max: 1e6 },
        256.0,
        "Requests that may wait at one replica.",
    ),
    ParamSpec::number(
        "service_cv",
        ParamKind::Number { min: 0.0, max: 5.0 },
        1.0,
        "Coefficient of variation of the own work.",
    ),
    ParamSpec::number(
        "service_time",
        ParamKind::Duration { min: 1e-5, max: 60.0 },
        0.005,
        "Mean own work of a request.",
    ),
];

/// Levers of any server and of its outgoing edges.
pub const LEVERS: &[LeverSpec] = &[
    LeverSpec { name: "edge.abort", doc: "The link answers with an error.", args: &[RATIO] },
    LeverSpec { name: "edge.breaker_stuck", doc: "The breaker stays open.", args: &[] },
    LeverSpec {
        name: "edge.latency",
        doc: "The link takes longer.",
        args: &[ParamSpec::required(
            "delay",
            ParamKind::Duration { min: 0.0, max: 60.0 },
            "Added round-trip time.",
        )],
    },
    LeverSpec {
        name: "edge.loss",
        doc: "The link loses requests and replies alike.",
        args: &[RATIO],
    },
    LeverSpec {
        name: "edge.partition",
        doc: "Nothing passes.",
        args: &[ParamSpec::text(
            "direction",
            ParamKind::Choice(&["both", "request", "reply"]),
            "both",
            "Which way nothing passes.",
        )],
    },
    LeverSpec {
        name: "edge.pool_leak",
        doc: "The caller does not give connections back.",
        args: &[ParamSpec::required(
            "rate",
            ParamKind::Number { min: 0.0, max: 1e6 },
            "Connections leaked per minute.",
        )],
    },
    LeverSpec {
        name: "server.crash_loop",
        doc: "Every process ends right after its start.",
        args: &[GROUP],
    },
    LeverSpec {
        name: "server.errors",
        doc: "Requests fail by an own error.",
        args: &[RATIO, CLASS, GROUP],
    },
    LeverSpec {
        name: "server.memory_leak",
        doc: "Memory grows until the host kills the process.",
        args: &[ParamSpec::required(
            "rate",
            ParamKind::Number { min: 0.0, max: 1e6 },
            "MiB per minute and replica.",
        )],
    },
    LeverSpec {
        name: "server.probes",
        doc: "A balancer checks the replicas by other settings; what is left out stays.",
        args: &[
            ParamSpec::required("timeout", CHECK_TIMEOUT, "A check that takes longer fails."),
            CHECKED_EVERY,
            FAILURES,
            PASSES,
            FLOOR,
        ],
    },
    LeverSpec {
        name: "server.slots_leak",
        doc: "Workers hang for good, one after another.",
        args: &[ParamSpec::required(
            "rate",
            ParamKind::Number { min: 0.0, max: 1e6 },
            "Slots lost per minute and replica.",
        )],
    },
    LeverSpec {
        name: "server.slow",
        doc: "Own work takes longer.",
        args: &[ParamSpec::required("factor", FACTOR, "Times as long."), CLASS, GROUP],
    },
    LeverSpec {
        name: "server.version",
        doc: "A version with a defect is deployed.",
        args: &[
            ParamSpec::text("version", ParamKind::Text, "", "Its label; empty: the next one."),
            ParamSpec::number("errors", ParamKind::Ratio, 0.0, "Share of requests that fail."),
            ParamSpec::number("slow", FACTOR, 1.0, "Own work takes this many times as long."),
            CLASS,
            GROUP,
        ],
    },
];

/// Operations of any server.
pub const OPERATIONS: &[OperationSpec] = &[
    OperationSpec {
        verb: "deploy",
        doc: "Deploys a sound version, by a release pipeline.",
        args: &[ParamSpec::text("version", ParamKind::Text, "", "Its label; empty: the next.")],
        delay: 1,
    },
    OperationSpec {
        verb: "drain",
        doc: "A replica group takes no new requests.",
        args: &[ParamSpec::required("group", ParamKind::Text, "The replica group.")],
        delay: 10,
    },
    OperationSpec {
        verb: "reload_secret",
        doc: "All replicas read their secrets again.",
        args: &[],
        delay: 10,
    },
    OperationSpec {
        verb: "rollback",
        doc: "The version and configuration before the last change.",
        args: &[],
        delay: 60,
    },
    OperationSpec {
        verb: "scale",
        doc: "Another number of replicas.",
        args: &[
            ParamSpec::required("replicas", ParamKind::Count { min: 1, max: 64 }, "Wanted."),
            GROUP,
        ],
        delay: 10,
    },
    OperationSpec {
        verb: "set_health_check",
        doc: "Changes how replicas are checked and kept from requests; what is left out stays.",
        args: &[
            ParamSpec::optional("timeout", CHECK_TIMEOUT, "A check that takes longer fails."),
            CHECKED_EVERY,
            FAILURES,
            PASSES,
            FLOOR,
        ],
        delay: 5,
    },
    OperationSpec {
        verb: "set_policy",
        doc: "Changes the policy towards a dependency, or the queue limit; what is left out stays.",
        args: &[
            ParamSpec::text("callee", ParamKind::Text, "", "Dependency; empty: all of them."),
            ParamSpec::optional(
                "timeout",
                ParamKind::Duration { min: 0.001, max: 60.0 },
                "Time-out of an attempt.",
            ),
            ParamSpec::optional("retries", ParamKind::Count { min: 0, max: 10 }, "Retries."),
            ParamSpec::optional(
                "backoff",
                ParamKind::Duration { min: 0.0, max: 10.0 },
                "Mean back-off.",
            ),
            ParamSpec::optional(
                "retry_budget",
                ParamKind::Ratio,
                "Retries per success; 1 is no budget.",
            ),
            ParamSpec::optional("breaker", ParamKind::Flag, "Circuit breaker on or off."),
            ParamSpec::optional(
                "queue_limit",
                ParamKind::Number { min: 0.0, max: 1e6 },
                "Requests that may wait at one replica.",
            ),
        ],
        delay: 5,
    },
    OperationSpec {
        verb: "shed",
        doc: "Turns a share of requests away at once.",
        args: &[CLASS, RATIO],
        delay: 2,
    },
    OperationSpec {
        verb: "shift_traffic",
        doc: "A replica group takes this share of what it would take.",
        args: &[ParamSpec::required("group", ParamKind::Text, "The replica group."), RATIO],
        delay: 10,
    },
];
