//! The descriptor of the cache kind: parameters, levers, operations.

use crate::behavior::CacheBehavior;
use crate::signals;
use machine::{LeverSpec, OperationSpec};
use model::{ParamKind, ParamSpec};
use server::ServerMachine;

const MIB: f64 = 1_048_576.0;
const RATIO: ParamSpec = ParamSpec::required("ratio", ParamKind::Ratio, "Share of the lookups.");
const TTL: ParamKind = ParamKind::Duration { min: 1.0, max: 86_400.0 };
const MEMORY: ParamKind = ParamKind::Bytes { min: MIB, max: 1e12 };

const OWN_PARAMS: &[ParamSpec] = &[
    ParamSpec::number(
        "entry_size",
        ParamKind::Bytes { min: 1.0, max: 1e9 },
        4096.0,
        "Bytes of a mean entry, keys and bookkeeping included.",
    ),
    ParamSpec::number(
        "hit_ratio",
        ParamKind::Ratio,
        0.95,
        "Share of lookups that hit in the first tick; what it comes to then follows from the load.",
    ),
    ParamSpec::number(
        "hot_keys",
        ParamKind::Number { min: 1.0, max: 1e9 },
        1000.0,
        "Keys that would draw the same load if all were asked for alike (1 / Σp²): as many \
         fetches warm a cold cache.",
    ),
    ParamSpec::number("jitter", ParamKind::Ratio, 0.0, "Part of the time to live that is drawn."),
    ParamSpec::number("max_memory", MEMORY, 256.0 * MIB, "Bytes of entries in one replica."),
    ParamSpec::flag("single_flight", false, "Misses of one key at one time are one fetch."),
    ParamSpec::number("ttl", TTL, 300.0, "Time to live of an entry."),
    ParamSpec::flag(
        "write_through",
        true,
        "Requests of classes that write go through to the store; else they look up like others.",
    ),
];

const OWN_LEVERS: &[LeverSpec] = &[
    LeverSpec {
        name: "cache.big_entries",
        doc: "Entries that come from now on are larger, and fewer of them fit.",
        args: &[ParamSpec::required(
            "factor",
            ParamKind::Number { min: 1.0, max: 10_000.0 },
            "Times as large.",
        )],
    },
    LeverSpec {
        name: "cache.cold",
        doc: "A share of the content is gone at once; nothing keeps it from coming back.",
        args: &[ParamSpec::number("ratio", ParamKind::Ratio, 1.0, "Share of the content.")],
    },
    LeverSpec {
        name: "cache.expiry_storm",
        doc: "What draws a share of the lookups was written at one instant: it expires together, \
              now and every time to live.",
        args: &[RATIO],
    },
    LeverSpec {
        name: "cache.hot_key",
        doc: "One key draws a share of the lookups, all at the replica that holds it.",
        args: &[RATIO],
    },
];

const OWN_OPERATIONS: &[OperationSpec] = &[
    OperationSpec { verb: "flush", doc: "Drops all entries.", args: &[], delay: 1 },
    OperationSpec {
        verb: "set_cache",
        doc: "Sets how entries live and are fetched; what is left out stays.",
        args: &[
            ParamSpec::optional("jitter", ParamKind::Ratio, "Part of the time to live drawn."),
            ParamSpec::optional("max_memory", MEMORY, "Bytes of entries in one replica."),
            ParamSpec::optional("single_flight", ParamKind::Flag, "One fetch per key at a time."),
            ParamSpec::optional("spread_hot_keys", ParamKind::Flag, "Hot keys in all replicas."),
            ParamSpec::optional("ttl", TTL, "Time to live of entries that come from now on."),
        ],
        delay: 5,
    },
    OperationSpec {
        verb: "warm",
        doc: "Loads the most popular entries from the store, beside the requests.",
        args: &[
            ParamSpec::required(
                "entries",
                ParamKind::Count { min: 1, max: 10_000_000 },
                "How many.",
            ),
            ParamSpec::number(
                "rate",
                ParamKind::Number { min: 1.0, max: 10_000.0 },
                50.0,
                "Per second.",
            ),
        ],
        delay: 1,
    },
];

server::server_kind! {
    /// The cache kind.
    Cache {
        name: "cache",
        doc: "keeps what its store is asked for: hits, expiry, eviction",
        params: OWN_PARAMS,
        levers: OWN_LEVERS,
        operations: OWN_OPERATIONS,
        rpcs: &["Get", "Set"],
        columns: |setup| server::signals::columns(setup, signals::COLUMNS),
        signals: signals::SIGNALS,
        create: ServerMachine::<CacheBehavior>::create,
    }
}
