//! What code may not use, and why: the source of every `clippy.toml` in the repository. Clippy
//! reads only the nearest file, so the file of a pure crate repeats the bans for everybody.
//! This file is data; `clippy_files` turns it into TOML.

/// A group of bans that a kind of crate gets as a whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Group {
    /// Heading in the generated file.
    pub title: &'static str,
    /// Why, and what to use instead.
    pub reason: &'static str,
    /// Paths of functions and methods.
    pub methods: &'static [&'static str],
    /// Paths of types.
    pub types: &'static [&'static str],
}

/// The crates of one folder and the groups on top of those for everybody.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Folder of the crate; `services/*` stands for all kinds.
    pub folder: &'static str,
    /// Groups of the crate.
    pub groups: &'static [Group],
}

/// Bans for every crate.
pub const EVERYWHERE: &[Group] = &[HASH_ORDER, HASHERS, SLEEP, VARIABLES, EXIT];

/// All bans of a crate that computes the world: state and input in, state and output out.
const PURE: &[Group] = &[CLOCK, RANDOMNESS, PROCESS, FILES, NETWORK, TASKS, MATH];
/// Parses files that somebody else may name.
const READS_FILES: &[Group] = &[CLOCK, RANDOMNESS, PROCESS, NETWORK, TASKS, MATH];
/// Stores records: files and a writer thread, but still no clock and no dice.
const STORES: &[Group] = &[CLOCK, RANDOMNESS, PROCESS, NETWORK, MATH];

/// Crates with more bans than [`EVERYWHERE`].
pub const PROFILES: &[Profile] = &[
    Profile { folder: "crates/action", groups: PURE },
    Profile { folder: "crates/episode", groups: PURE },
    Profile { folder: "crates/fault", groups: PURE },
    Profile { folder: "crates/flow", groups: PURE },
    Profile { folder: "crates/machine", groups: PURE },
    Profile { folder: "crates/model", groups: PURE },
    Profile { folder: "crates/record", groups: STORES },
    Profile { folder: "crates/scenario", groups: READS_FILES },
    Profile { folder: "crates/server", groups: PURE },
    Profile { folder: "crates/shell", groups: PURE },
    Profile { folder: "crates/telemetry", groups: PURE },
    // Machine and gRPC shell share a crate; the shell only carries bytes and needs none of these.
    Profile { folder: "services/*", groups: PURE },
];

const HASH_ORDER: Group = Group {
    title: "order of iteration",
    reason: "iterates in a random order, which reaches records sooner or later: use BTreeMap or \
             BTreeSet",
    methods: &[],
    types: &["std::collections::HashMap", "std::collections::HashSet"],
};

const HASHERS: Group = Group {
    title: "hashes that change between processes or releases",
    reason: "is not stable: use the keyed hash of `model`",
    methods: &[],
    types: &["std::hash::RandomState", "std::hash::DefaultHasher"],
};

const SLEEP: Group = Group {
    title: "sleeping",
    reason: "nothing sleeps: a machine is told the tick, a shell waits for an event with a deadline",
    methods: &["std::thread::sleep"],
    types: &[],
};

const VARIABLES: Group = Group {
    title: "the environment",
    reason: "configuration comes from the command line layer (clap's `env`) as an argument",
    methods: &[
        "std::env::var",
        "std::env::var_os",
        "std::env::vars",
        "std::env::vars_os",
        "std::env::set_current_dir",
    ],
    types: &[],
};

const EXIT: Group = Group {
    title: "leaving early",
    reason: "skips drains and destructors: return an `ExitCode` from `main`",
    methods: &["std::process::exit"],
    types: &[],
};

const CLOCK: Group = Group {
    title: "the wall clock",
    reason: "the world has no clock: the tick is an argument, and a deadline is virtual",
    methods: &[
        "std::time::Instant::now",
        "std::time::Instant::elapsed",
        "std::time::SystemTime::now",
        "std::time::SystemTime::elapsed",
        "tokio::time::sleep",
        "tokio::time::sleep_until",
        "tokio::time::interval",
        "tokio::time::interval_at",
        "tokio::time::timeout",
        "tokio::time::timeout_at",
    ],
    types: &["std::time::Instant", "std::time::SystemTime", "tokio::time::Instant"],
};

const RANDOMNESS: Group = Group {
    title: "dice",
    reason: "randomness is a function: `noise(seed, label, tick)` of `model`",
    methods: &["rand::rng", "rand::random", "getrandom::fill"],
    types: &["rand::rngs::ThreadRng", "rand::rngs::StdRng", "rand::rngs::SmallRng"],
};

const PROCESS: Group = Group {
    title: "the surrounding process",
    reason: "depends on where the code runs: take what is needed as an argument",
    methods: &[
        "std::env::args",
        "std::env::args_os",
        "std::env::current_dir",
        "std::env::temp_dir",
        "std::process::id",
        "std::thread::available_parallelism",
    ],
    types: &["std::process::Command"],
};

const FILES: Group = Group {
    title: "files",
    reason: "this crate does no IO: take the content as an argument",
    methods: &[
        "std::fs::copy",
        "std::fs::create_dir",
        "std::fs::create_dir_all",
        "std::fs::metadata",
        "std::fs::read",
        "std::fs::read_dir",
        "std::fs::read_to_string",
        "std::fs::remove_dir_all",
        "std::fs::remove_file",
        "std::fs::rename",
        "std::fs::write",
    ],
    types: &["std::fs::File", "std::fs::OpenOptions"],
};

const NETWORK: Group = Group {
    title: "sockets",
    reason: "this crate does no IO: the mesh and the chassis own the connections",
    methods: &[],
    types: &["std::net::TcpListener", "std::net::TcpStream", "std::net::UdpSocket"],
};

const TASKS: Group = Group {
    title: "threads and tasks",
    reason: "makes the order of work depend on a scheduler: return the work to the caller",
    methods: &[
        "std::thread::spawn",
        "std::thread::scope",
        "tokio::spawn",
        "tokio::task::spawn",
        "tokio::task::spawn_blocking",
        "tokio::task::spawn_local",
    ],
    types: &["std::thread::Builder", "tokio::task::JoinSet"],
};

/// `sqrt`, `mul_add`, `abs`, `floor`, `round`, `min`, `max` are exact everywhere and stay allowed.
const MATH: Group = Group {
    title: "platform mathematics",
    reason: "differs in the last bit between platforms: use `libm` (exp, log, cbrt), products \
             instead of powers",
    methods: &[
        "f64::exp",
        "f64::exp2",
        "f64::exp_m1",
        "f64::ln",
        "f64::ln_1p",
        "f64::log",
        "f64::log2",
        "f64::log10",
        "f64::powf",
        "f64::powi",
        "f64::cbrt",
        "f64::hypot",
        "f64::sin",
        "f64::cos",
        "f64::sin_cos",
        "f64::tan",
        "f64::asin",
        "f64::acos",
        "f64::atan",
        "f64::atan2",
        "f64::sinh",
        "f64::cosh",
        "f64::tanh",
        "f64::asinh",
        "f64::acosh",
        "f64::atanh",
        "f32::exp",
        "f32::exp2",
        "f32::exp_m1",
        "f32::ln",
        "f32::ln_1p",
        "f32::log",
        "f32::log2",
        "f32::log10",
        "f32::powf",
        "f32::powi",
        "f32::cbrt",
        "f32::hypot",
        "f32::sin",
        "f32::cos",
        "f32::sin_cos",
        "f32::tan",
        "f32::asin",
        "f32::acos",
        "f32::atan",
        "f32::atan2",
        "f32::sinh",
        "f32::cosh",
        "f32::tanh",
        "f32::asinh",
        "f32::acosh",
        "f32::atanh",
    ],
    types: &[],
};
