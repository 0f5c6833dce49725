//! The descriptor of the external kind: parameters, levers, operations. It takes none of the shared
//! ones: nobody here deploys, restarts, scales or configures it.

use crate::behavior::ExternalBehavior;
use crate::signals;
use machine::{Kind, LeverSpec, Machine, OperationSpec};
use model::{GroupSpec, ParamError, ParamKind, ParamSpec, Setup};
use server::ServerMachine;
use telemetry::{ColumnSpec, SignalSpec};

/// The external kind.
#[derive(Debug)]
pub struct External;

/// The external kind, for the fleet's list.
pub static KIND: &dyn Kind = &External;

const RATE: ParamKind = ParamKind::Number { min: 0.1, max: 1e6 };

static PARAMS: &[ParamSpec] = &[
    ParamSpec::number(
        "burst",
        ParamKind::Duration { min: 0.0, max: 3600.0 },
        2.0,
        "Seconds of the quota that may be saved up and used at once.",
    ),
    ParamSpec::number(
        "concurrency",
        ParamKind::Number { min: 1.0, max: 1e6 },
        2000.0,
        "Calls that it works on at once.",
    ),
    ParamSpec::number(
        "queue",
        ParamKind::Number { min: 0.0, max: 1e6 },
        2000.0,
        "Calls that may wait there.",
    ),
    ParamSpec::number("quota", RATE, 1000.0, "Calls per second that the contract allows."),
    ParamSpec::number(
        "quota_max",
        RATE,
        2000.0,
        "Calls per second that it grants on request, at most.",
    ),
    ParamSpec::number(
        "refused_cost",
        ParamKind::Ratio,
        0.1,
        "Part of a call that a refused one counts as: who asks too much gets less.",
    ),
    ParamSpec::number(
        "service_cv",
        ParamKind::Number { min: 0.0, max: 5.0 },
        0.6,
        "Coefficient of variation of its work.",
    ),
    ParamSpec::number(
        "service_time",
        ParamKind::Duration { min: 1e-5, max: 60.0 },
        0.08,
        "Mean time of an answer.",
    ),
];

static LEVERS: &[LeverSpec] = &[
    LeverSpec {
        name: "external.errors",
        doc: "It answers a share of the calls with an error.",
        args: &[ParamSpec::required("ratio", ParamKind::Ratio, "Share of the calls.")],
    },
    LeverSpec {
        name: "external.quota",
        doc: "It allows fewer calls than the contract says, until more are granted on request.",
        args: &[ParamSpec::required("rps", RATE, "Calls per second that pass.")],
    },
    LeverSpec {
        name: "external.slow",
        doc: "It takes longer.",
        args: &[ParamSpec::required(
            "factor",
            ParamKind::Number { min: 1.0, max: 10_000.0 },
            "Times as long.",
        )],
    },
];

static OPERATIONS: &[OperationSpec] = &[OperationSpec {
    verb: "request_quota",
    doc: "Asks for a higher quota; somebody there decides, and that takes its time.",
    args: &[ParamSpec::required("rps", RATE, "Calls per second.")],
    delay: 240,
}];

const RPCS: &[&str] = &["Call"];

impl Kind for External {
    fn name(&self) -> &'static str {
        "external"
    }

    fn doc(&self) -> &'static str {
        "a third party: quota, brown-outs, nobody's to operate here"
    }

    fn params(&self) -> &'static [ParamSpec] {
        PARAMS
    }

    fn levers(&self) -> &'static [LeverSpec] {
        LEVERS
    }

    fn operations(&self) -> &'static [OperationSpec] {
        OPERATIONS
    }

    fn rpcs(&self) -> &'static [&'static str] {
        RPCS
    }

    fn outside(&self) -> bool {
        true
    }

    fn columns(&self, setup: &Setup) -> Vec<ColumnSpec> {
        server::signals::columns(setup, signals::COLUMNS)
    }

    fn signals(&self) -> &'static [SignalSpec] {
        signals::SIGNALS
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn Machine>, ParamError> {
        // It has no replica group here. The server needs one to serve with; no host knows it.
        let mut setup = setup.clone();
        setup.spec.groups = vec![GroupSpec {
            name: "outside".into(),
            version: String::new(),
            host: setup.id,
            replicas: 1,
        }];
        ServerMachine::<ExternalBehavior>::create(&setup)
    }
}
