//! What a step of an agent costs the server: many agents over `/ws` at a process of its own, whose
//! processor time the system tells. Beside it, by the same client, the reference implementation
//! with an environment that does nothing.

use super::herd::Herd;
use super::machine;
use super::worlds::WORLD;
use crate::failure::Failure;
use crate::task_key::TaskKey;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Agents at once.
pub const AGENTS: usize = 64;
/// Steps of an episode that are measured, and those before, which make the baselines of its seed
/// and let the world come to rest.
const STEPS: usize = 40;
const BEFORE: usize = 2;

const REFERENCE: &str = include_str!("reference.py");

/// One kind of step, by all agents.
#[derive(Clone, Debug)]
pub struct Pace {
    /// What was measured.
    pub what: String,
    /// Processor time of the server per step, microseconds.
    pub cpu_us: f64,
    /// What that should not exceed.
    pub budget_us: Option<f64>,
    /// Steps per second of all agents together.
    pub per_s: f64,
    /// Time of a step as an agent sees it, milliseconds.
    pub p50_ms: f64,
    /// The same, of one in a hundred.
    pub p99_ms: f64,
}

impl Pace {
    /// Whether it keeps its budget.
    pub fn within(&self) -> bool {
        self.budget_us.is_none_or(|budget| self.cpu_us <= budget)
    }
}

/// What was measured where the reference was.
pub const REFERENCE_ROW: &str = "OpenEnv's own server, an environment that does nothing";

/// Measures steps of 0, 5 and 30 calm ticks; with `python`, which has the package `openenv`, the
/// reference as well.
///
/// # Errors
/// Where a server cannot be started or does not answer.
pub async fn measure(
    quick: bool,
    python: Option<&Path>,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Pace>, Failure> {
    let rounds = if quick { 2 } else { 12 };
    let folder = Folder::new()?;
    say("agents: steps");
    let mut server = Running::start(serve(&folder)?).await?;
    let task = TaskKey::default().task("bench/world");
    let wait = |seconds: u32| json!({"action": "wait", "seconds": seconds});
    let read = json!({"action": "metrics", "component": "orders"});
    let declare = json!({"action": "declare", "cause": "none"});
    let mut paces = Vec::new();
    for (what, budget, action) in [
        ("0 calm ticks (`declare`)", Some(30.0), declare),
        ("5 calm ticks (`wait`)", Some(60.0), wait(5)),
        ("30 calm ticks (`wait`)", Some(200.0), wait(30)),
        ("5 calm ticks and a read (`metrics`)", None, read),
    ] {
        let mut pace =
            server.steps(&action, rounds, |agent| json!({"task": task, "seed": agent})).await?;
        (pace.what, pace.budget_us) = (what.into(), budget);
        paces.push(pace);
    }
    say("agents: resets");
    paces.push(
        server
            .resets(
                rounds,
                |round, agent| json!({"task": task, "seed": 1000 + AGENTS * round + agent}),
            )
            .await?,
    );
    server.stop().await;
    if let Some(python) = python {
        say("agents: the reference implementation");
        let program = folder.0.join("reference.py");
        std::fs::write(&program, REFERENCE).map_err(Failure::failed)?;
        let mut command = Command::new(python);
        command.arg(program);
        let mut reference = Running::start(command).await?;
        let mut pace = reference.steps(&json!({"n": 1}), rounds, |_| json!({})).await?;
        pace.what = REFERENCE_ROW.into();
        paces.push(pace);
        reference.stop().await;
    }
    Ok(paces)
}

/// This program, serving the world of the budgets.
fn serve(folder: &Folder) -> Result<Command, Failure> {
    let scenarios = folder.0.join("scenarios/bench");
    let topologies = folder.0.join("topologies");
    for folder in [&scenarios, &topologies] {
        std::fs::create_dir_all(folder).map_err(Failure::failed)?;
    }
    std::fs::write(scenarios.join("world.yaml"), WORLD).map_err(Failure::failed)?;
    let program = std::env::current_exe().map_err(Failure::failed)?;
    let mut command = Command::new(program);
    command.args(["serve", "--listen", "127.0.0.1:0", "--control", "off", "--log", "warn"]);
    command.args(["--otlp", "off", "--records", "off", "--library"]).arg(&folder.0);
    command.env_remove(crate::task_key::VARIABLE);
    Ok(command)
}

/// A folder that is removed with it.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, Failure> {
        let name = format!("mayday-bench-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).map_err(Failure::failed)?;
        Ok(Folder(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in a folder for temporary files is removed by others.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server that says where it listens.
#[derive(Debug)]
struct Running {
    child: Child,
    address: String,
}

impl Running {
    async fn start(mut command: Command) -> Result<Running, Failure> {
        let program = command.as_std().get_program().display().to_string();
        let begun = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn();
        let mut child =
            begun.map_err(|error| Failure::failed(format!("{program} cannot start: {error}")))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).await.map_err(Failure::failed)?;
        }
        let said: Value = serde_json::from_str(&line).unwrap_or_default();
        let address = said["agents"].as_str().map(str::to_string);
        let address = address.ok_or_else(|| {
            Failure::failed(format!("{program} does not say where it listens: {line:?}"))
        })?;
        Ok(Running { child, address })
    }

    /// Processor time so far, seconds.
    fn cpu(&self) -> Result<f64, Failure> {
        let id = self.child.id().ok_or_else(|| Failure::failed("a server ended by itself"))?;
        machine::cpu(id).ok_or_else(|| {
            Failure::failed("this system does not tell the processor time of a process in /proc")
        })
    }

    /// All agents step through `rounds` episodes, each of the same seeds.
    async fn steps(
        &mut self,
        action: &Value,
        rounds: usize,
        reset: impl Fn(usize) -> Value,
    ) -> Result<Pace, Failure> {
        let mut herd = Herd::connect(&self.address, AGENTS).await?;
        let (mut cpu, mut wall, mut took) = (0.0, 0.0, Vec::new());
        for _ in 0..rounds {
            herd.reset(&reset).await?;
            herd.step(action, BEFORE).await?;
            let (begin, before) = (std::time::Instant::now(), self.cpu()?);
            took.extend(herd.step(action, STEPS).await?);
            cpu += self.cpu()? - before;
            wall += begin.elapsed().as_secs_f64();
        }
        herd.leave().await;
        Ok(pace(cpu, wall, took))
    }

    /// All agents begin one episode after another.
    async fn resets(
        &mut self,
        rounds: usize,
        data: impl Fn(usize, usize) -> Value,
    ) -> Result<Pace, Failure> {
        let mut herd = Herd::connect(&self.address, AGENTS).await?;
        let (begin, before) = (std::time::Instant::now(), self.cpu()?);
        let mut took = Vec::new();
        for round in 0..rounds {
            took.extend(herd.reset(|agent| data(round, agent)).await?);
        }
        let (cpu, wall) = (self.cpu()? - before, begin.elapsed().as_secs_f64());
        herd.leave().await;
        Ok(Pace { what: "a reset with a warm-up of 300 ticks".into(), ..pace(cpu, wall, took) })
    }

    async fn stop(mut self) {
        // It is ours, and holds nothing that is kept.
        let _ = self.child.kill().await;
    }
}

fn pace(cpu: f64, wall: f64, mut took: Vec<f64>) -> Pace {
    took.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let at = (share * took.len() as f64) as usize;
        took.get(at.min(took.len().saturating_sub(1))).copied().unwrap_or_default() * 1e3
    };
    let many = took.len().max(1) as f64;
    Pace {
        what: String::new(),
        cpu_us: cpu * 1e6 / many,
        budget_us: None,
        per_s: many / wall.max(1e-9),
        p50_ms: at(0.5),
        p99_ms: at(0.99),
    }
}
