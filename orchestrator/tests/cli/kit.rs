//! Starts the binary in an environment without settings of the person who runs the tests.

use serde_json::Value;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub(crate) const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/library");
pub(crate) const SCENARIO: &str = "lab/broken-release";
/// Whatever has not happened by then does not happen.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

const SETTINGS: [&str; 23] = [
    "RUST_LOG",
    "MAYDAY_TOKEN",
    "MAYDAY_EVAL_SECRET",
    "MAYDAY_EVALUATE",
    "MAYDAY_COMPONENTS",
    "MAYDAY_RECORDS",
    "MAYDAY_LIBRARY",
    "MAYDAY_LISTEN",
    "MAYDAY_GRADER",
    "MAYDAY_MAX_EPISODES",
    "MAYDAY_AGENTS",
    "MAYDAY_CONTROL",
    "MAYDAY_MAX_SESSIONS",
    "MAYDAY_TASK_KEY",
    "OPENENV_MODE",
    "MAYDAY_REFLECTION",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_EXPORTER_OTLP_COMPRESSION",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "OTEL_METRIC_EXPORT_INTERVAL",
    "OTEL_SDK_DISABLED",
];

/// The binary with these arguments: the one that is shipped where `MAYDAY_BINARY` names it, else
/// the one of this build.
#[expect(clippy::disallowed_methods, reason = "the switch to the shipped binary")]
pub(crate) fn command(args: &[&str]) -> Command {
    let built = env!("CARGO_BIN_EXE_mayday");
    let mut command = Command::new(std::env::var("MAYDAY_BINARY").as_deref().unwrap_or(built));
    command.args(args).stdin(Stdio::null());
    for name in SETTINGS {
        command.env_remove(name);
    }
    command
}

/// Whether the binary is the one that is shipped: optimized, and static where that can be.
#[expect(clippy::disallowed_methods, reason = "the switch to the shipped binary")]
pub(crate) fn is_shipped() -> bool {
    std::env::var_os("MAYDAY_BINARY").is_some()
}

/// Whether the full counts are asked for.
#[expect(clippy::disallowed_methods, reason = "the switch to the full counts")]
pub(crate) fn soak() -> bool {
    std::env::var_os("MAYDAY_SOAK").is_some()
}

/// Where programs are looked for: this folder, then the usual ones.
#[expect(clippy::disallowed_methods, reason = "programs are found as a person's are")]
pub(crate) fn path_after(first: &Path) -> OsString {
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(first.to_path_buf()).chain(std::env::split_paths(&usual));
    std::env::join_paths(all).expect("no colon in a folder's name")
}

/// What it says and how it ends.
pub(crate) fn mayday(args: &[&str]) -> Output {
    command(args).output().expect("the binary starts")
}

/// Its stdout, where it has to succeed.
pub(crate) fn out(args: &[&str]) -> String {
    let output = mayday(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).expect("text")
}

/// The same as JSON.
pub(crate) fn json(args: &[&str]) -> Value {
    serde_json::from_str(&out(args)).expect("JSON")
}

/// `mayday run` of the laboratory scenario.
pub(crate) fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["run", SCENARIO, "--library", LIBRARY];
    args.extend(more);
    args
}

/// The episode of an agent in a document of `mayday run --json`.
pub(crate) fn episode<'a>(document: &'a Value, agent: &str) -> &'a Value {
    let episodes = document["episodes"].as_array().expect("a list");
    episodes.iter().find(|e| e["agent"] == agent).expect("the agent played")
}

/// A server of the binary, killed when it is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// What it said first.
    pub(crate) said: Value,
}

impl Server {
    /// Starts it and waits for its first line.
    pub(crate) fn start(args: &[&str], token: Option<&str>) -> Server {
        Server::start_in(args, token, &[])
    }

    /// The same with these variables.
    pub(crate) fn start_in(
        args: &[&str],
        token: Option<&str>,
        variables: &[(&str, &str)],
    ) -> Server {
        let mut command = command(args);
        command.envs(variables.iter().copied());
        if let Some(token) = token {
            command.env("MAYDAY_TOKEN", token);
        }
        command.args(["--log", "warn"]).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let said = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{args:?}: {line:?} {e}"));
        Server { child, said }
    }

    /// Where it listens.
    pub(crate) fn address(&self, role: &str) -> String {
        self.said[role].as_str().expect("an address").to_string()
    }

    /// At once, without a word: SIGKILL.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// In order: SIGTERM. Its exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        signal(&self.child, rustix::process::Signal::TERM);
        wait(&mut self.child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let id = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(id.expect("an id"), signal).expect("it runs");
}

/// Waits for the end of a process; its exit code.
pub(crate) fn wait(child: &mut Child) -> Option<i32> {
    until("the process ends", || child.try_wait().expect("a child")).code()
}

/// Asks again and again until there is an answer.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::yield_now();
    }
}

/// Says, past the capture of the test runner, that a test was skipped; a run that may not skip
/// sets `MAYDAY_TEST_ALL` and fails here.
#[expect(clippy::disallowed_methods, reason = "the switch of a run that may not skip")]
pub(crate) fn skip(test: &str, why: &str) {
    assert!(std::env::var_os("MAYDAY_TEST_ALL").is_none(), "{test} cannot run: {why}");
    let line = format!("test skipped: {test}: {why}\n");
    // A harness that has closed its own stderr reads nothing.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
