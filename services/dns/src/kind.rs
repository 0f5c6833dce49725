//! The descriptor of the dns kind: parameters, levers, operations.

use crate::behavior::DnsBehavior;
use crate::signals;
use machine::{Kind, LeverSpec, Machine, OperationSpec};
use model::{NAMES_MAX, ParamError, ParamKind, ParamSpec, Setup};
use server::{LEVERS as SHARED_LEVERS, OPERATIONS as SHARED_OPERATIONS, PARAMS as SHARED_PARAMS};
use server::{ServerMachine, join_levers, join_operations, join_params};
use telemetry::{ColumnSpec, SignalSpec};

/// The dns kind.
#[derive(Debug)]
pub struct Dns;

/// The dns kind, for the fleet's list.
pub static KIND: &dyn Kind = &Dns;

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

const RPCS: &[&str] = &["Resolve"];

const PARAM_COUNT: usize = OWN_PARAMS.len() + SHARED_PARAMS.len();
static PARAMS: [ParamSpec; PARAM_COUNT] = join_params::<PARAM_COUNT>(OWN_PARAMS, SHARED_PARAMS);

const LEVER_COUNT: usize = OWN_LEVERS.len() + SHARED_LEVERS.len();
static LEVERS: [LeverSpec; LEVER_COUNT] = join_levers::<LEVER_COUNT>(OWN_LEVERS, SHARED_LEVERS);

const OPERATION_COUNT: usize = OWN_OPERATIONS.len() + SHARED_OPERATIONS.len();
static OPERATIONS: [OperationSpec; OPERATION_COUNT] =
    join_operations::<OPERATION_COUNT>(OWN_OPERATIONS, SHARED_OPERATIONS);

impl Kind for Dns {
    fn name(&self) -> &'static str {
        "dns"
    }

    fn doc(&self) -> &'static str {
        "answers for names: a zone, and the caches of those who ask"
    }

    fn params(&self) -> &'static [ParamSpec] {
        &PARAMS
    }

    fn levers(&self) -> &'static [LeverSpec] {
        &LEVERS
    }

    fn operations(&self) -> &'static [OperationSpec] {
        &OPERATIONS
    }

    fn rpcs(&self) -> &'static [&'static str] {
        RPCS
    }

    fn resolves(&self) -> bool {
        true
    }

    fn columns(&self, setup: &Setup) -> Vec<ColumnSpec> {
        server::signals::columns(setup, signals::COLUMNS)
    }

    fn signals(&self) -> &'static [SignalSpec] {
        signals::SIGNALS
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn Machine>, ParamError> {
        if setup.names.len() > NAMES_MAX {
            let message = format!("{} names, at most {NAMES_MAX} fit", setup.names.len());
            return Err(ParamError { name: "names".into(), message });
        }
        ServerMachine::<DnsBehavior>::create(setup)
    }
}
