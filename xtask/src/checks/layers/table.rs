//! Who may import whom, as data: one row per crate, lowest layer first. A row names folders;
//! `services/*` stands for every component kind, that is for all of `services/` but the grader.

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Folder of the crate.
    pub folder: &'static str,
    /// Folders of our crates that it may import in `[dependencies]`.
    pub may: &'static [&'static str],
    /// Crates of others that may not be in its graph at all.
    pub never_reach: &'static [&'static str],
    /// Crates of others that it may not name in its own `[dependencies]`.
    pub never_import: &'static [&'static str],
}

/// Runtimes, sockets, clocks and dice: nothing of the kind below a crate that computes the world.
pub const NO_RUNTIME: &[&str] = &[
    "async-std",
    "axum",
    "chrono",
    "hyper",
    "jiff",
    "mio",
    "rand",
    "reqwest",
    "smol",
    "socket2",
    "time",
    "tokio",
    "tonic",
    "tower",
];

const fn pure(folder: &'static str, may: &'static [&'static str]) -> Layer {
    Layer { folder, may, never_reach: NO_RUNTIME, never_import: &[] }
}

const fn shell(folder: &'static str, may: &'static [&'static str]) -> Layer {
    Layer { folder, may, never_reach: &[], never_import: &[] }
}

const MODEL: &str = "crates/model";
const TELEMETRY: &str = "crates/telemetry";
const MACHINE: &str = "crates/machine";
const FLOW: &str = "crates/flow";
const SERVER: &str = "crates/server";
const FAULT: &str = "crates/fault";
const ACTION: &str = "crates/action";
const SCENARIO: &str = "crates/scenario";
const RECORD: &str = "crates/record";
const ARCHIVE: &str = "crates/archive";
const SHELL: &str = "crates/shell";
const TRAIL: &str = "crates/trail";
const PROTO: &str = "proto";
const MESH: &str = "crates/mesh";
const CHASSIS: &str = "crates/chassis";
const KINDS: &str = "services/*";
const FLEET: &str = "crates/fleet";
const EPISODE: &str = "crates/episode";
const OTLP: &str = "crates/otlp";
const OPENENV: &str = "crates/openenv";
const GRADER: &str = "services/grader";
const ORCHESTRATOR: &str = "orchestrator";

/// The only table.
pub const TABLE: &[Layer] = &[
    pure(MODEL, &[]),
    pure(TELEMETRY, &[MODEL]),
    pure(MACHINE, &[MODEL, TELEMETRY]),
    pure(FLOW, &[MODEL]),
    // What the machines of several kinds have in common; it knows none of them by name.
    pure(SERVER, &[MODEL, TELEMETRY, MACHINE, FLOW]),
    pure(FAULT, &[MODEL, MACHINE]),
    // An action does not know what is broken: never `fault`.
    pure(ACTION, &[MODEL, MACHINE]),
    // Kinds reach a scenario as values: never `fleet` or a service.
    pure(SCENARIO, &[MODEL, MACHINE, FAULT, ACTION]),
    pure(RECORD, &[MODEL, TELEMETRY]),
    // The stores that need sockets; the engine below keeps clear of them.
    shell(ARCHIVE, &[MODEL, RECORD]),
    pure(SHELL, &[MODEL, MACHINE]),
    // Carries spans of processes; nothing of the simulation.
    shell(TRAIL, &[]),
    shell(PROTO, &[]),
    // Neither mesh nor chassis knows a kind by name.
    shell(MESH, &[MODEL, MACHINE, TELEMETRY, PROTO]),
    shell(CHASSIS, &[MODEL, MACHINE, TELEMETRY, PROTO, MESH, TRAIL]),
    shell(
        GRADER,
        &[
            MODEL, MACHINE, TELEMETRY, ACTION, SCENARIO, RECORD, FLEET, EPISODE, PROTO, CHASSIS,
            TRAIL,
        ],
    ),
    shell(KINDS, &[MODEL, MACHINE, FLOW, SERVER, TELEMETRY, PROTO, CHASSIS, MESH]),
    shell(FLEET, &[KINDS, CHASSIS, MESH, PROTO, TRAIL, MODEL, MACHINE, TELEMETRY]),
    Layer {
        folder: EPISODE,
        may: &[MODEL, MACHINE, FLOW, TELEMETRY, FAULT, ACTION, SCENARIO, RECORD, FLEET, SHELL],
        // The fleet below it brings a runtime; the engine itself spawns nothing and sets no timer.
        never_reach: &[],
        never_import: &["axum", "hyper", "tokio", "tonic"],
    },
    // What telemetry says reaches it as values: neither an engine nor a kind.
    shell(OTLP, &[MODEL]),
    // The agents' protocol knows nothing of the domain.
    shell(OPENENV, &[]),
    shell(
        ORCHESTRATOR,
        &[
            MODEL, TELEMETRY, MACHINE, FLOW, SERVER, FAULT, ACTION, SCENARIO, RECORD, ARCHIVE,
            SHELL, PROTO, MESH, CHASSIS, KINDS, FLEET, EPISODE, OTLP, OPENENV, GRADER, TRAIL,
        ],
    ),
    // Tests and tools: nobody imports them, and they import the product in tests only.
    shell("tests", &[]),
    shell("tests/collector", &[]),
    shell("tests/des", &[]),
    shell("tests/pgtest", &[]),
    shell("xtask", &[]),
];
