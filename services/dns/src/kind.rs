//! The descriptor of the dns kind: parameters, levers, operations.

use crate::behavior::DnsBehavior;
use crate::signals;
use machine::{LeverSpec, Machine, OperationSpec};
use model::{NAMES_MAX, ParamError, ParamKind, ParamSpec, Setup};
use server::ServerMachine;

const RECORD: ParamSpec =
    ParamSpec::required("record", ParamKind::Text, "The name, as the configuration lists it.");

const OWN_PARAMS: &[ParamSpec] = &[
    ParamSpec::number(
        "caches",
        ParamKind::Number { min: 1.0, max: 1e6 },
        40.0,
        "Caches that ask for every name, each for itself: those of processes, nodes, resolvers.",
    ),
    ParamSpec::number(
        "negative_ttl",
        ParamKind::Duration { min: 1.0, max: 86_400.0 },
        30.0,
        "How long a cache keeps the answer that a name does not exist.",
    ),
];

const OWN_LEVERS: &[LeverSpec] = &[
    LeverSpec {
        name: "dns.record_lost",
        doc: "The zone has no entry for a name any more.",
        args: &[RECORD],
    },
    LeverSpec {
        name: "dns.record_wrong",
        doc: "The zone gives an address for a name where nobody answers.",
        args: &[
            RECORD,
            ParamSpec::text("address", ParamKind::Text, "10.0.9.200", "The address it gives."),
        ],
    },
];

const OWN_OPERATIONS: &[OperationSpec] = &[
    OperationSpec {
        verb: "fix_record",
        doc: "Writes the entry of a name anew, with the address of its component.",
        args: &[RECORD],
        delay: 5,
    },
    OperationSpec {
        verb: "flush_resolver",
        doc: "Empties all caches: everybody asks for every name at once.",
        args: &[],
        delay: 5,
    },
];

server::server_kind! {
    /// The dns kind.
    Dns {
        name: "dns",
        doc: "answers for names: a zone, and the caches of those who ask",
        params: OWN_PARAMS,
        levers: OWN_LEVERS,
        operations: OWN_OPERATIONS,
        rpcs: &["Resolve"],
        columns: |setup| server::signals::columns(setup, signals::COLUMNS),
        signals: signals::SIGNALS,
        create: create,
    }

    fn resolves(&self) -> bool {
        true
    }
}

fn create(setup: &Setup) -> Result<Box<dyn Machine>, ParamError> {
    if setup.names.len() > NAMES_MAX {
        let message = format!("{} names, at most {NAMES_MAX} fit", setup.names.len());
        return Err(ParamError { name: "names".into(), message });
    }
    ServerMachine::<DnsBehavior>::create(setup)
}
