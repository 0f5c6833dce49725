//! The descriptor of the host kind: parameters, levers, operations.

use crate::machine::HostMachine;
use crate::signals;
use machine::{Kind, LeverSpec, Machine, OperationSpec};
use model::{ParamError, ParamKind, ParamSpec, Setup};
use telemetry::{ColumnSpec, SignalSpec};

/// The host kind.
#[derive(Debug)]
pub struct Host;

/// The host kind, for the fleet's list.
pub static KIND: &dyn Kind = &Host;

const GIB: f64 = 1_073_741_824.0;
const BYTES: ParamKind = ParamKind::Bytes { min: 1_048_576.0, max: 1e15 };
const RATE: ParamKind = ParamKind::Bytes { min: 1.0, max: 1e12 };

const PARAMS: &[ParamSpec] = &[
    ParamSpec::number("cpu", ParamKind::Number { min: 0.1, max: 1024.0 }, 64.0, "Cores."),
    ParamSpec::number("memory", BYTES, 256.0 * GIB, "Memory."),
    ParamSpec::number("disk", BYTES, 500.0 * GIB, "Size of the file system."),
    ParamSpec::number("disk_used", BYTES, 100.0 * GIB, "Bytes in use at the start."),
    ParamSpec::number(
        "inodes",
        ParamKind::Number { min: 1000.0, max: 1e12 },
        10e6,
        "Inodes of the file system.",
    ),
];

const INSTANCE: ParamSpec =
    ParamSpec::required("instance", ParamKind::Component, "An instance that runs on the host.");
const GROUP: ParamSpec =
    ParamSpec::text("group", ParamKind::Text, "", "One of its replica groups; empty: all.");
const PATH: ParamSpec = ParamSpec::text(
    "path",
    ParamKind::Text,
    "/var/log/app-debug.log",
    "File or folder on the host.",
);

const LEVERS: &[LeverSpec] = &[
    LeverSpec {
        name: "host.clock_skew",
        doc: "The clock is off by this much.",
        args: &[ParamSpec::required(
            "seconds",
            ParamKind::Number { min: -86400.0, max: 86400.0 },
            "Positive: ahead.",
        )],
    },
    LeverSpec {
        name: "host.cpu_hog",
        doc: "A stray process burns CPU until it is killed.",
        args: &[ParamSpec::required(
            "cores",
            ParamKind::Number { min: 0.1, max: 1024.0 },
            "Cores it wants.",
        )],
    },
    LeverSpec {
        name: "host.disk_fill",
        doc: "A stray process appends to a file until it is killed.",
        args: &[PATH, ParamSpec::required("rate", RATE, "Bytes per second.")],
    },
    LeverSpec {
        name: "host.inode_leak",
        doc: "A stray process creates small files until it is killed.",
        args: &[
            PATH,
            ParamSpec::required(
                "rate",
                ParamKind::Number { min: 0.01, max: 1e9 },
                "Files per second.",
            ),
        ],
    },
    LeverSpec {
        name: "host.memory_pressure",
        doc: "A stray process holds memory until it is killed.",
        args: &[ParamSpec::required("size", BYTES, "Bytes it holds.")],
    },
    LeverSpec {
        name: "host.port_squat",
        doc: "The instance's process dies and a stray process takes its port.",
        args: &[INSTANCE, GROUP],
    },
    LeverSpec {
        name: "host.process_crash",
        doc: "The instance's process is gone and its unit has given up restarting it.",
        args: &[INSTANCE, GROUP],
    },
];

const OPERATIONS: &[OperationSpec] = &[
    OperationSpec {
        verb: "restart_process",
        doc: "Ends the processes of an instance on this host and starts them again.",
        args: &[INSTANCE, GROUP],
        delay: 1,
    },
    OperationSpec {
        verb: "start_unit",
        doc: "Starts a unit that is down.",
        args: &[ParamSpec::required(
            "unit",
            ParamKind::Text,
            "`instance` or `instance/group`, as the status lists it.",
        )],
        delay: 1,
    },
    OperationSpec {
        verb: "kill_process",
        doc: "Kills one process by its id.",
        args: &[ParamSpec::required(
            "pid",
            ParamKind::Count { min: 1, max: 1_000_000 },
            "Process id, as the status lists it.",
        )],
        delay: 1,
    },
    OperationSpec {
        verb: "free_disk",
        doc: "Removes a file, or the files of a folder.",
        args: &[ParamSpec::required("path", ParamKind::Text, "Path, as the status lists it.")],
        delay: 5,
    },
];

impl Kind for Host {
    fn name(&self) -> &'static str {
        "host"
    }

    fn doc(&self) -> &'static str {
        "a computer: files, inodes, processes, units, sockets, clock"
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
        &["Ping"]
    }

    fn columns(&self, _setup: &Setup) -> Vec<ColumnSpec> {
        signals::COLUMNS.to_vec()
    }

    fn signals(&self) -> &'static [SignalSpec] {
        signals::SIGNALS
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn Machine>, ParamError> {
        Ok(Box::new(HostMachine::create(setup)?))
    }
}
