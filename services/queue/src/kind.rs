//! The descriptor of the queue kind: parameters, levers, operations.

use crate::machine::QueueMachine;
use crate::signals;
use machine::{LeverSpec, OperationSpec};
use model::{PROCESS, PUBLISH, ParamKind, ParamSpec};

/// Most partitions of one queue.
const PARTITIONS_MAX: u32 = 64;

const PARTITION: ParamSpec = ParamSpec::required(
    "partition",
    ParamKind::Count { min: 0, max: PARTITIONS_MAX - 1 },
    "Its number, from 0.",
);

const OWN_PARAMS: &[ParamSpec] = &[
    ParamSpec::number(
        "ack_time",
        ParamKind::Duration { min: 1e-5, max: 10.0 },
        0.002,
        "Mean time from a publish to its acknowledgment.",
    ),
    ParamSpec::number(
        "depth_limit",
        ParamKind::Number { min: 1.0, max: 1e12 },
        1e9,
        "Messages that the broker keeps; above, publishes are refused.",
    ),
    ParamSpec::number(
        "fetch_delay",
        ParamKind::Duration { min: 0.0, max: 60.0 },
        0.02,
        "Mean time from a publish to its fetch by a consumer that has nothing else to do.",
    ),
    ParamSpec::number(
        "freshness",
        ParamKind::Duration { min: 0.01, max: 86_400.0 },
        10.0,
        "A message that is handled later than this after its publish is no good to its user.",
    ),
    ParamSpec::number(
        "max_deliveries",
        ParamKind::Count { min: 0, max: 100 },
        5.0,
        "Deliveries after which a message that its handler fails is a dead letter; 0: never.",
    ),
    ParamSpec::number(
        "partitions",
        ParamKind::Count { min: 1, max: PARTITIONS_MAX },
        12.0,
        "Partitions; each has one consumer, so that more consumers than these have no work.",
    ),
    ParamSpec::number(
        "rebalance",
        ParamKind::Duration { min: 0.0, max: 600.0 },
        8.0,
        "No consumer fetches for this long after one has joined or left.",
    ),
];

const OWN_LEVERS: &[LeverSpec] = &[
    LeverSpec {
        name: "queue.poison",
        doc: "The next message of a partition ends its handler before the delivery is counted: the \
              partition stands still until the message is parked, skipped or purged.",
        args: &[ParamSpec::number(
            "partition",
            ParamKind::Count { min: 0, max: PARTITIONS_MAX - 1 },
            0.0,
            "Its number, from 0; beyond the last one: the last one.",
        )],
    },
    LeverSpec {
        name: "queue.slow_consumers",
        doc: "Handling a message takes longer.",
        args: &[
            ParamSpec::required(
                "factor",
                ParamKind::Number { min: 1.0, max: 10_000.0 },
                "Times as long.",
            ),
            ParamSpec::text("class", ParamKind::Class, "", "The class or route; empty: all."),
        ],
    },
    LeverSpec {
        name: "queue.stuck",
        doc: "A share of the consumers hangs: they keep their partitions and handle nothing, until \
              all consumers are new processes.",
        args: &[ParamSpec::required("ratio", ParamKind::Ratio, "Share of the consumers.")],
    },
];

const OWN_OPERATIONS: &[OperationSpec] = &[
    OperationSpec {
        verb: "park_message",
        doc: "Puts the message at the head of a partition among the dead letters.",
        args: &[PARTITION],
        delay: 2,
    },
    OperationSpec {
        verb: "purge",
        doc: "Deletes all messages that wait; what they put off is never done.",
        args: &[],
        delay: 5,
    },
    OperationSpec {
        verb: "skip_offset",
        doc: "Moves a partition's committed offset past messages; what they put off is never done.",
        args: &[
            PARTITION,
            ParamSpec::number(
                "messages",
                ParamKind::Count { min: 1, max: 1_000_000 },
                1.0,
                "How many, from the head on.",
            ),
        ],
        delay: 2,
    },
];

server::server_kind! {
    /// The queue kind.
    Queue {
        name: "queue",
        doc: "keeps messages for its consumers: partitions, backlog, dead letters",
        params: OWN_PARAMS,
        levers: OWN_LEVERS,
        operations: OWN_OPERATIONS,
        rpcs: &[PUBLISH, PROCESS],
        columns: signals::columns,
        signals: signals::SIGNALS,
        create: QueueMachine::create,
    }
}
