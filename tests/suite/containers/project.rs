//! A deployment of `deploy/compose.yaml` for one test: an image of `dist/mayday`, a project of its
//! own, everything removed at the end. What runs that were killed left behind is removed by the
//! next one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Whatever has not happened by then does not happen.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);
/// What its processes show each other.
pub(crate) const TOKEN: &str = "s3cret-of-the-test";
/// Begin of the names of projects, images and everything in them.
const PREFIX: &str = "mayday-test-";
const LABEL: &str = "com.docker.compose.project";

/// What the binary is made of.
const SOURCES: [&str; 7] =
    ["Cargo.lock", "crates", "orchestrator/src", "proto", "scenarios", "services", "topologies"];

/// One deployment at a time: two would fight for the processors.
static TURN: Mutex<()> = Mutex::new(());

/// The deployment; `down -v` when it is dropped.
pub(crate) struct Project {
    pub(crate) name: String,
    _turn: MutexGuard<'static, ()>,
}

/// Runs a program of docker; its stdout without the end of the last line, or what it complained
/// about.
pub(crate) fn docker(args: &[&str]) -> Result<String, String> {
    said(Command::new("docker").args(args))
}

fn said(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{command:?}: {}", text(&output.stderr))),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root").to_path_buf()
}

/// The static binary that `cargo xtask dist` makes.
pub(crate) fn shipped() -> PathBuf {
    root().join("dist/mayday")
}

/// Another state of the sources may be another world: then no digest would say anything.
fn up_to_date() -> Result<(), String> {
    let made = std::fs::metadata(shipped()).and_then(|file| file.modified());
    let made = made.map_err(|_| "there is no dist/mayday".to_string())?;
    for part in SOURCES {
        if let Some(newer) = newer(&root().join(part), made) {
            return Err(format!("dist/mayday is older than {}", newer.display()));
        }
    }
    Ok(())
}

/// A file at or below a path that was changed after this time.
fn newer(path: &Path, than: SystemTime) -> Option<PathBuf> {
    if let Ok(entries) = std::fs::read_dir(path) {
        return entries.flatten().find_map(|entry| newer(&entry.path(), than));
    }
    let changed = std::fs::metadata(path).and_then(|file| file.modified()).ok()?;
    (changed > than).then(|| path.to_path_buf())
}

/// Says, past the capture of the test runner, that a test was skipped; a run that may not skip
/// sets `MAYDAY_TEST_ALL` and fails here.
#[expect(clippy::disallowed_methods, reason = "the switch of a run that may not skip")]
fn skip(test: &str, why: &str) {
    assert!(std::env::var_os("MAYDAY_TEST_ALL").is_none(), "{test} cannot run: {why}");
    let line = format!("test skipped: {test}: {why}\n");
    // A harness that has closed its own stderr reads nothing.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

impl Project {
    /// Starts everything and waits until agents are served; `None` where there is no docker, or
    /// nothing to make an image of, which is said.
    pub(crate) fn start(test: &str) -> Option<Project> {
        if let Err(error) = docker(&["info", "--format", "{{.ServerVersion}}"]) {
            skip(test, &format!("`docker info` fails: {error}"));
            return None;
        }
        if let Err(why) = up_to_date() {
            skip(test, &format!("{why}: `cargo xtask dist` makes it"));
            return None;
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        sweep();
        let name = format!("{PREFIX}{}-{}", namespace(), std::process::id());
        let project = Project { name, _turn: turn };
        project.compose(&["build"]);
        project.compose(&["up", "-d", "--no-build"]);
        Some(project)
    }

    /// `deploy/compose` with these words, which has to succeed.
    pub(crate) fn compose(&self, words: &[&str]) -> String {
        self.composed(words).unwrap_or_else(|error| panic!("{error}"))
    }

    fn composed(&self, words: &[&str]) -> Result<String, String> {
        let mut command = Command::new(root().join("deploy/compose"));
        command.args(words).envs([
            ("COMPOSE_PROJECT_NAME", &*self.name),
            ("MAYDAY_IMAGE", &self.name),
            ("MAYDAY_BUILD", "prebuilt"),
            ("MAYDAY_TOKEN", TOKEN),
            ("MAYDAY_PUBLISH", "127.0.0.1"),
            // The kernel chooses.
            ("MAYDAY_PORT", ""),
            ("MAYDAY_OTLP", ""),
            ("COMPOSE_PROFILES", ""),
        ]);
        said(&mut command)
    }

    /// The container of a service, running or not.
    pub(crate) fn container(&self, service: &str) -> String {
        let project = format!("label={LABEL}={}", self.name);
        let of = format!("label=com.docker.compose.service={service}");
        let found = docker(&["ps", "-aq", "--filter", &project, "--filter", &of]).expect("listed");
        assert!(!found.is_empty() && !found.contains('\n'), "{service}: {found:?}");
        found
    }

    /// The full name of one of its networks.
    pub(crate) fn network(&self, network: &str) -> String {
        format!("{}_{network}", self.name)
    }

    /// The address of a service in one of its networks.
    pub(crate) fn address(&self, service: &str, network: &str) -> String {
        let network = self.network(network);
        let path = format!("{{{{(index .NetworkSettings.Networks {network:?}).IPAddress}}}}");
        let address = self.inspect(service, &path);
        assert!(!address.is_empty(), "{service} is not on {network}");
        address
    }

    /// What docker says of a service's container.
    pub(crate) fn inspect(&self, service: &str, path: &str) -> String {
        docker(&["inspect", "-f", path, &self.container(service)]).expect("inspected")
    }

    /// Where agents come in from this machine; the port is another one after a restart.
    pub(crate) fn agents(&self) -> Option<String> {
        docker(&["port", &self.container("orchestrator"), "8000/tcp"]).ok()
    }

    /// A command of the binary in the container of a service.
    pub(crate) fn exec(&self, service: &str, words: &[&str]) -> Result<String, String> {
        let container = self.container(service);
        docker(&[&["exec", &container, "/mayday"], words].concat())
    }

    /// Waits until docker has found a service healthy.
    pub(crate) fn until_healthy(&self, service: &str) {
        until(&format!("{service} is healthy"), || {
            (self.inspect(service, "{{.State.Health.Status}}") == "healthy").then_some(())
        });
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let logs = self.composed(&["logs", "--tail", "20"]).unwrap_or_else(|error| error);
            let _ = std::io::stderr().write_all(logs.as_bytes());
        }
        // A container that is paused cannot be stopped in order.
        remove(&self.name);
    }
}

/// Everything of a project, whatever state it is in.
fn remove(project: &str) {
    let label = format!("label={LABEL}={project}");
    let each = |list: &[&str], remove: &[&str]| {
        let found = docker(&[list, &["-q", "--filter", &label]].concat()).unwrap_or_default();
        let found: Vec<_> = found.lines().collect();
        if !found.is_empty()
            && let Err(error) = docker(&[remove, &found].concat())
        {
            let line = format!("{project}: not all is removed: {error}\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    };
    each(&["ps", "-a"], &["rm", "-f", "-v"]);
    each(&["network", "ls"], &["network", "rm"]);
    each(&["volume", "ls"], &["volume", "rm", "-f"]);
    let _ = docker(&["rmi", "-f", project]);
}

/// Removes what runs left behind that are dead.
fn sweep() {
    let list = |args: &[&str]| docker(args).unwrap_or_default();
    let label = format!("{{{{.Label {LABEL:?}}}}}");
    let names = [
        list(&["ps", "-a", "--format", &label]),
        list(&["network", "ls", "--format", &label]),
        list(&["volume", "ls", "--format", &label]),
        list(&["images", "--format", "{{.Repository}}"]),
    ];
    let names: std::collections::BTreeSet<_> = names.iter().flat_map(|all| all.lines()).collect();
    for name in names {
        let run = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
        // Processes of other machines' or containers' name spaces cannot be seen from here.
        let ours = |(space, process): (&str, &str)| {
            space == namespace() && !Path::new("/proc").join(process).exists()
        };
        if run.is_some_and(ours) {
            remove(name);
        }
    }
}

/// The name space in which this process has its id.
fn namespace() -> String {
    let link = std::fs::read_link("/proc/self/ns/pid").expect("Linux");
    link.to_string_lossy().chars().filter(char::is_ascii_digit).collect()
}

/// Asks again and again until there is an answer.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "never: {what}");
        // Leaves the processors to what is waited for.
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
