//! A copy of the checkout in which blocks of commands are run by bash, with `mayday` on the path
//! and without settings of the person who runs the tests.

use super::blocks::Block;
use crate::kit;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Whatever has not ended by then does not end; packages have to be fetched, images to be built.
const DEADLINE: Duration = Duration::from_secs(1800);
/// What a block started and did not wait for has ended by then: servers let running steps end.
const LEFT_FOR: Duration = Duration::from_secs(30);
/// Folders of a checkout that are made by building and testing it.
const MADE: [&str; 5] = [".git", "dist", ".venv", "__pycache__", "node_modules"];
/// Variables that change what a block does.
const SETTINGS: [&str; 5] = ["MAYDAY_", "OPENENV_", "OTEL_", "COMPOSE_", "RUST_LOG"];
/// The ports of the README.
const PORTS: [u16; 2] = [8000, 7100];

/// Where a block runs.
#[derive(Clone, Debug)]
pub(crate) enum Network {
    /// As this process does.
    Shared,
    /// By this command.
    Own(Vec<&'static str>),
}

impl Network {
    /// One with nothing but a loopback interface; where that cannot be had, this one if the ports
    /// are free.
    pub(crate) fn own() -> Option<Network> {
        const UP: [&str; 4] = ["sh", "-c", "ip link set lo up && exec \"$@\"", "sh"];
        for words in [&["unshare", "--net", "--map-root-user"][..], &["unshare", "--net"]] {
            let words = [words, &UP].concat();
            let tried = Command::new(words[0]).args(&words[1..]).arg("true").output();
            if tried.is_ok_and(|done| done.status.success()) {
                return Some(Network::Own(words));
            }
        }
        let free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
        PORTS.iter().all(free).then_some(Network::Shared)
    }

    fn bash(&self) -> Command {
        match self {
            Network::Shared => Command::new("bash"),
            Network::Own(words) => {
                let mut command = Command::new(words[0]);
                command.args(&words[1..]).arg("bash");
                command
            }
        }
    }
}

/// What a block came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) succeeded: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The copy; removed with it, together with the containers and the image that it made.
#[derive(Debug)]
pub(crate) struct Sandbox {
    folder: TempDir,
    project: Option<String>,
}

impl Sandbox {
    /// A copy of the checkout at `root`.
    pub(crate) fn new(root: &Path) -> Sandbox {
        let sandbox = Sandbox::empty();
        copy(root, &sandbox.checkout());
        sandbox
    }

    /// The same with the binary where `cargo xtask dist` leaves it, and a project for Compose.
    pub(crate) fn with_image(root: &Path) -> Sandbox {
        let mut sandbox = Sandbox::new(root);
        let dist = sandbox.checkout().join("dist");
        fs::create_dir(&dist).expect("a folder");
        fs::copy(binary(), dist.join("mayday")).expect("copied");
        // Runs that were killed are cleared away by this name, which tests/suite/containers knows.
        let space = fs::read_link("/proc/self/ns/pid").expect("Linux");
        let space: String = space.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
        sandbox.project = Some(format!("mayday-test-{space}-{}", std::process::id()));
        sandbox
    }

    /// No checkout.
    pub(crate) fn empty() -> Sandbox {
        let sandbox = Sandbox { folder: TempDir::new().expect("a folder"), project: None };
        for folder in ["bin", "checkout"] {
            fs::create_dir(sandbox.folder.path().join(folder)).expect("a folder");
        }
        symlink(binary(), sandbox.folder.path().join("bin/mayday")).expect("a link");
        sandbox
    }

    /// Where the blocks are run.
    pub(crate) fn checkout(&self) -> PathBuf {
        self.folder.path().join("checkout")
    }

    /// A program that comes before others of its name.
    pub(crate) fn add_program(&self, name: &str, script: &str) {
        let path = self.folder.path().join("bin").join(name);
        fs::write(&path, script).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    }

    /// Runs a block to its end, or to the first command that fails, and waits for what it started.
    pub(crate) fn run(&self, block: &Block, network: &Network) -> Ran {
        let file = |name: &str| self.folder.path().join(name);
        fs::write(file("block.sh"), &block.text).expect("written");
        let made = |name: &str| Stdio::from(File::create(file(name)).expect("a file"));
        let mut command = network.bash();
        command.args(["-euo", "pipefail"]).arg(file("block.sh"));
        self.prepare(&mut command);
        command.stdout(made("stdout")).stderr(made("stderr")).process_group(0);
        let mut bash = command.spawn().expect("bash");
        let group = bash.id();
        let within = |limit: Duration, ended: &mut dyn FnMut() -> bool| {
            let begun = Instant::now();
            while begun.elapsed() < limit && !ended() {
                std::thread::park_timeout(Duration::from_millis(10));
            }
            ended()
        };
        let ended = within(DEADLINE, &mut || bash.try_wait().expect("a child").is_some());
        let gone = ended && within(LEFT_FOR, &mut || members(group).is_empty());
        let left = members(group);
        if !gone {
            end(group);
        }
        let succeeded = bash.wait().expect("a child").success();
        let read = |name: &str| {
            let bytes = fs::read(file(name)).expect("a file");
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let ran = Ran { succeeded, stdout: read("stdout"), stderr: read("stderr") };
        assert!(gone, "{}: {left:?} went on: {ran:#?}", block.heading);
        ran
    }

    #[expect(clippy::disallowed_methods, reason = "what is set is taken away")]
    fn prepare(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if SETTINGS.iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        let path = kit::path_after(&self.folder.path().join("bin"));
        command.current_dir(self.checkout()).stdin(Stdio::null()).env("PATH", path);
        if let Some(project) = &self.project {
            command.env("COMPOSE_PROJECT_NAME", project).env("MAYDAY_IMAGE", project);
            // The kernel chooses.
            command.env("MAYDAY_PORT", "");
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if self.project.is_some() {
            let mut down = Command::new("deploy/compose");
            down.args(["down", "--volumes", "--rmi", "all"]);
            self.prepare(&mut down);
            // What stays is cleared away by a later run.
            let _ = down.output();
        }
    }
}

/// The binary under test, from wherever a block stands.
fn binary() -> PathBuf {
    let command = kit::command(&[]);
    Path::new(command.get_program()).canonicalize().expect("the binary")
}

/// Copies what belongs to a checkout.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name();
        let target = to.join(&name);
        let name = name.to_string_lossy();
        if MADE.contains(&&*name) || name.starts_with("target") {
            continue;
        }
        if entry.file_type().expect("a type").is_dir() {
            fs::create_dir(&target).expect("a folder");
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("copied");
        }
    }
}

/// Processes of a group that have not ended; those that only nobody waited for have.
fn members(group: u32) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let stats = processes.filter_map(|one| fs::read_to_string(one.path().join("stat")).ok());
    let of_group = |stat: &String| {
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let fields: Vec<_> = fields.split_whitespace().take(3).collect();
        matches!(fields[..], [state, _, of] if of == group.to_string() && !"ZX".contains(state))
    };
    stats.filter(of_group).collect()
}

/// Ends all of a group.
fn end(group: u32) {
    let id = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw);
    let id = id.expect("an id");
    let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
}
