//! The descriptor of the db kind: parameters, levers, operations.

use crate::behavior::{DbBehavior, IDLE_SESSIONS};
use crate::signals;
use machine::{LeverSpec, OperationSpec};
use model::{ParamKind, ParamSpec};
use server::ServerMachine;

const OWN_PARAMS: &[ParamSpec] = &[
    ParamSpec::number(
        "lock_timeout",
        ParamKind::Duration { min: 0.1, max: 600.0 },
        20.0,
        "A statement waits no longer for a lock; it holds its connection meanwhile.",
    ),
    ParamSpec::number(
        "replica_reads",
        ParamKind::Ratio,
        0.3,
        "Share of reads that go to the replica and must not be stale.",
    ),
    ParamSpec::number(
        "write_bytes",
        ParamKind::Bytes { min: 0.0, max: 1e9 },
        4096.0,
        "Bytes on disk of one write.",
    ),
];

const OWN_LEVERS: &[LeverSpec] = &[
    LeverSpec {
        name: IDLE_SESSIONS,
        doc: "Sessions hold connections and do nothing, until they or the processes end.",
        args: &[ParamSpec::required(
            "connections",
            ParamKind::Number { min: 0.0, max: 10_000.0 },
            "Connections they hold.",
        )],
    },
    LeverSpec {
        name: "db.lock",
        doc: "A session holds a lock that the statements of a class wait for.",
        args: &[ParamSpec::text(
            "class",
            ParamKind::Class,
            "",
            "The class or route that waits; empty: all that write.",
        )],
    },
    LeverSpec {
        name: "db.replica_lag",
        doc: "A bulk session writes faster than the replica applies.",
        args: &[ParamSpec::number(
            "rate",
            ParamKind::Number { min: 0.0, max: 100.0 },
            0.5,
            "Seconds of lag per second.",
        )],
    },
    LeverSpec {
        name: "db.slow_query",
        doc: "One fingerprint lost its index: its statements read the whole table.",
        args: &[
            ParamSpec::text("class", ParamKind::Class, "", "The class or route; empty: all."),
            ParamSpec::number(
                "factor",
                ParamKind::Number { min: 1.0, max: 10_000.0 },
                20.0,
                "Times the work.",
            ),
        ],
    },
];

const OWN_OPERATIONS: &[OperationSpec] = &[
    OperationSpec {
        verb: "create_index",
        doc: "Builds an index for the statements of a route, beside the work that goes on.",
        args: &[ParamSpec::required(
            "table",
            ParamKind::Text,
            "The table that they read: it is called as the route or class is.",
        )],
        delay: 60,
    },
    OperationSpec {
        verb: "failover",
        doc: "The replica becomes the primary; writes it does not have are lost.",
        args: &[],
        delay: 2,
    },
    OperationSpec {
        verb: "kill_session",
        doc: "Ends a session; its transaction is undone first.",
        args: &[ParamSpec::required(
            "session",
            ParamKind::Count { min: 1, max: 1_000_000 },
            "Its number, as the status lists it.",
        )],
        delay: 1,
    },
];

server::server_kind! {
    /// The db kind.
    Db {
        name: "db",
        doc: "queries and writes: locks, plans, replication, disk",
        params: OWN_PARAMS,
        levers: OWN_LEVERS,
        operations: OWN_OPERATIONS,
        rpcs: &["Query", "Write"],
        columns: |setup| server::signals::columns(setup, signals::COLUMNS),
        signals: signals::SIGNALS,
        create: ServerMachine::<DbBehavior>::create,
    }
}
