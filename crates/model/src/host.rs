//! What a terminal sees of one host: the answer to [`crate::Query::Host`]. Facts of the host only;
//! what a view shows belongs to its component and is asked for there.

use crate::ids::InstanceId;
use crate::time::Tick;
use serde::{Deserialize, Serialize};

/// One host as seen by somebody who is logged in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostView {
    /// Its name.
    pub name: String,
    /// The first tick that is not over yet.
    pub now: Tick,
    /// Its clock is ahead by this much, seconds.
    pub skew_s: f64,
    /// Cores.
    pub cpu_cores: f64,
    /// Cores in use.
    pub cpu_used: f64,
    /// Memory, bytes.
    pub memory: f64,
    /// Memory in use, bytes.
    pub memory_used: f64,
    /// Its file system.
    pub disk: DiskView,
    /// Files and folders by path, then files without a path that are still open.
    pub files: Vec<FileView>,
    /// Processes by id.
    pub processes: Vec<ProcessView>,
    /// Listening sockets by port.
    pub sockets: Vec<SocketView>,
    /// Units by name.
    pub units: Vec<UnitView>,
}

/// A file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskView {
    /// Bytes.
    pub capacity: f64,
    /// Bytes in use.
    pub used: f64,
    /// Inodes.
    pub inodes: f64,
    /// Inodes in use.
    pub inodes_used: f64,
}

/// One file, or one folder of small files that are not told apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileView {
    /// Absolute path; the last one, for a file that was removed while open.
    pub path: String,
    /// Bytes.
    pub size: f64,
    /// Inodes: more than one for a folder of small files.
    pub inodes: f64,
    /// Name of the owning user.
    pub owner: String,
    /// Permission bits.
    pub mode: u32,
    /// Last change.
    pub modified: Tick,
    /// What is in it.
    pub content: FileContent,
    /// Processes that have it open.
    pub handles: Vec<u32>,
    /// It has no path any more: it lives as long as its handles.
    pub deleted: bool,
}

/// What is in a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileContent {
    /// Bytes that mean nothing to a reader.
    #[default]
    Opaque,
    /// A folder.
    Folder,
    /// This text.
    Text(String),
    /// What a component shows.
    View {
        /// Whose.
        instance: InstanceId,
        /// Which of its faces.
        face: Face,
        /// Nothing older is in it: the file was emptied or made then.
        since: Tick,
    },
}

/// What a view shows of its component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Face {
    /// Its log.
    Log,
    /// Its certificate.
    Certificate,
    /// Its configuration.
    Configuration,
}

/// State of a process, as `ps` abbreviates it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessState {
    /// Waits for something: `S`.
    #[default]
    Sleeping,
    /// Uses a processor: `R`.
    Running,
    /// Stopped by a signal: `T`.
    Stopped,
    /// Ended, and its parent has not asked for its exit code: `Z`. It holds nothing.
    Zombie,
}

/// One process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessView {
    /// Its id.
    pub pid: u32,
    /// Its parent's.
    pub parent: u32,
    /// Its user.
    pub user: String,
    /// Its state.
    pub state: ProcessState,
    /// Cores it uses.
    pub cpu_cores: f64,
    /// Memory, bytes.
    pub memory: f64,
    /// Its command line.
    pub command: String,
    /// When it started.
    pub started: Tick,
    /// The unit it belongs to; empty: none.
    pub unit: String,
}

/// One listening socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SocketView {
    /// Its port.
    pub port: u16,
    /// The process that holds it.
    pub pid: u32,
}

/// State of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitState {
    /// Runs.
    Active,
    /// Starts, or waits until it is started again.
    Activating,
    /// Ended for a reason and stays down.
    Failed,
    /// Was stopped, or never started.
    #[default]
    Inactive,
}

/// One unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitView {
    /// Its name without `.service`.
    pub name: String,
    /// The instance behind it; `None`: the host's own.
    pub instance: Option<InstanceId>,
    /// Position of the replica group behind it.
    pub group: u8,
    /// Its state.
    pub state: UnitState,
    /// Since when.
    pub since: Tick,
    /// Its main process, 0 while there is none.
    pub pid: u32,
    /// Processes that run.
    pub running: u32,
    /// Ends that nobody ordered.
    pub exits: u32,
    /// Why it last went down; empty: it did not.
    pub reason: String,
    /// The port it listens on, 0 for none.
    pub port: u16,
    /// Its command line.
    pub command: String,
}
