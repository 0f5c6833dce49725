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
const RATE: ParamKind = ParamKind::Bytes { min: 0.0, max: 1e12 };

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
        args: &[
            PATH,
            ParamSpec::required("rate", RATE, "Bytes per second; 0: it lies there, no process."),
            ParamSpec::number(
                "size",
                ParamKind::Bytes { min: 0.0, max: 1e15 },
                0.0,
                "Bytes in it at once, as far as they fit.",
            ),
            ParamSpec::text("instance", ParamKind::Text, "", "Whose log it is; empty: nobody's."),
        ],
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
        args: &[
            INSTANCE,
            GROUP,
            ParamSpec::text("command", ParamKind::Text, "python3 -m http.server", "Its command."),
            ParamSpec::optional(
                "pid",
                ParamKind::Count { min: 4200, max: 999_000 },
                "Its process id, if that number is still to come; else the next one.",
            ),
            ParamSpec::flag("zombie", false, "It has an ended child that nobody waits for."),
        ],
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
    OperationSpec {
        verb: "signal",
        doc: "Sends a signal to one process.",
        args: &[
            ParamSpec::required("pid", ParamKind::Count { min: 1, max: 1_000_000 }, "Process id."),
            ParamSpec::required("signal", ParamKind::Choice(SIGNALS), "Name of the signal."),
        ],
        delay: 0,
    },
    OperationSpec {
        verb: "unit",
        doc: "Starts, stops, restarts or reloads a unit.",
        args: &[
            ParamSpec::required("unit", ParamKind::Text, "Its name without `.service`."),
            ParamSpec::required("change", ParamKind::Choice(UNIT_CHANGES), "What to do."),
        ],
        delay: 0,
    },
    OperationSpec {
        verb: "unlink",
        doc: "Removes one file, or one folder of small files; open ones keep their space.",
        args: &[FILE],
        delay: 0,
    },
    OperationSpec {
        verb: "truncate",
        doc: "Cuts a file, which is made if it is not there.",
        args: &[FILE, ParamSpec::required("size", SIZE, "Bytes that stay.")],
        delay: 0,
    },
    OperationSpec {
        verb: "write",
        doc: "Writes a text into a file, which is made if it is not there.",
        args: &[
            FILE,
            ParamSpec::required("text", ParamKind::Content, "The text."),
            ParamSpec::flag("append", false, "At its end; otherwise instead of what is there."),
        ],
        delay: 0,
    },
    OperationSpec { verb: "make_folder", doc: "Makes an empty folder.", args: &[FILE], delay: 0 },
    OperationSpec {
        verb: "rename",
        doc: "Moves a file or folder; what has it open keeps it open.",
        args: &[FROM, TO],
        delay: 0,
    },
    OperationSpec { verb: "copy", doc: "Copies a file.", args: &[FROM, TO], delay: 0 },
    OperationSpec {
        verb: "compress",
        doc: "Replaces a file by a compressed one.",
        args: &[FROM, TO],
        delay: 0,
    },
    OperationSpec {
        verb: "set_mode",
        doc: "Changes permission bits or owner of a file.",
        args: &[
            FILE,
            ParamSpec::optional("mode", ParamKind::Count { min: 0, max: 0o7777 }, "The bits."),
            ParamSpec::text("owner", ParamKind::Text, "", "The user; empty: as it is."),
        ],
        delay: 0,
    },
    OperationSpec {
        verb: "step_clock",
        doc: "Sets the clock; 0: by the time servers.",
        args: &[ParamSpec::number(
            "offset",
            ParamKind::Number { min: -1e9, max: 1e9 },
            0.0,
            "Seconds ahead of them.",
        )],
        delay: 0,
    },
];

/// Signals that a process may be sent.
const SIGNALS: &[&str] =
    &["TERM", "KILL", "INT", "HUP", "QUIT", "ABRT", "STOP", "CONT", "USR1", "USR2"];
const UNIT_CHANGES: &[&str] = &["start", "stop", "restart", "reload"];
const FILE: ParamSpec = ParamSpec::required("path", ParamKind::Text, "Absolute path.");
const FROM: ParamSpec = ParamSpec::required("from", ParamKind::Text, "Absolute path.");
const TO: ParamSpec = ParamSpec::required("to", ParamKind::Text, "Absolute path.");
const SIZE: ParamKind = ParamKind::Bytes { min: 0.0, max: 1e15 };

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
