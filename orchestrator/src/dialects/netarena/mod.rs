//! `netarena`: somebody types shell commands on one host that is in trouble. Three tasks, each an
//! ordinary scenario whose host the commands run on; states, rewards and the end follow from what
//! its components and the host publish after each command.

use super::Dialect;
use crate::stage::{Caller, Endpoint, Health, Objective, Play, Reader, Refused, Rooms, Stage};
use crate::stage::{Trouble, reply};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use model::{Answer, HostView, ProcessState, UnitState};
use openenv::Item;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) const DIALECT: Dialect = Dialect {
    name: "netarena",
    summary: "Shell commands on one host: a service, a port, a disk.",
    version: "1.0.0",
    scenarios: &["netarena/disk-full", "netarena/port-conflict", "netarena/service-down"],
    endpoints: &[
        Endpoint::new("get", "/health", "Whether it serves."),
        Endpoint::new("post", "/reset", "Begins a task; `task_id`, or task1."),
        Endpoint::new("post", "/step", "Runs a command in the task `task_id`."),
        Endpoint::new("get", "/state", "The state of the task `task_id`."),
    ],
    routes,
};

/// Commands of one task.
const STEPS_MAX: u32 = 15;
/// Longest command, characters.
const COMMAND_MAX: usize = 1000;
/// Longest explanation, characters.
const EXPLANATION_MAX: usize = 2000;
/// Every reset of a task is the same world.
const SEED: u64 = 0;
/// From this share of its disk on a host is out of room, percent.
const DISK_FULL: i64 = 90;
/// The process that holds the port.
const SQUATTER: u32 = 6789;
/// The port.
const PORT: u16 = 8080;

/// One task.
#[derive(Debug)]
struct Task {
    id: &'static str,
    scenario: &'static str,
    host: &'static str,
    /// Where users come in.
    entry: Objective,
    alert: &'static str,
}

static TASKS: [Task; 3] = [
    Task {
        id: "task1",
        scenario: "netarena/service-down",
        host: "prod-web-01",
        entry: Objective { component: "nginx", latency_s: 0.5 },
        alert: "ALERT prod-web-01: the web server nginx does not run, and requests to port 80 are \
                refused. Find out why and bring it back.",
    },
    Task {
        id: "task2",
        scenario: "netarena/port-conflict",
        host: "prod-app-01",
        entry: Objective { component: "nginx", latency_s: 0.5 },
        alert: "ALERT prod-app-01: the application cannot bind port 8080, and its deploy is blocked. \
                Find what holds the port and free it.",
    },
    Task {
        id: "task3",
        scenario: "netarena/disk-full",
        host: "prod-db-01",
        entry: Objective { component: "app", latency_s: 1.0 },
        alert: "ALERT prod-db-01: the disk is 100 % full, and the PostgreSQL database has crashed. \
                Make room and bring the database back.",
    },
];

/// What the host and its components are seen to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    nginx_runs: bool,
    zombie_lives: bool,
    port_free: bool,
    disk_percent: i64,
    log_exists: bool,
    db_runs: bool,
    /// Users get answers.
    serves: bool,
}

impl Seen {
    /// What every task says of what is not its own.
    const ELSEWHERE: Seen = Seen {
        nginx_runs: false,
        zombie_lives: true,
        port_free: false,
        disk_percent: 100,
        log_exists: true,
        db_runs: false,
        serves: false,
    };

    async fn of(task: &Task, play: &Play) -> Result<Seen, Trouble> {
        let serves = play.health(&[task.entry]).await?.iter().all(|h| *h != Health::Down);
        let host = match play.ask(task.host, model::Query::Host).await? {
            Answer::Host(view) => *view,
            _ => HostView::default(),
        };
        let runs = |name: &str| {
            host.units.iter().any(|u| u.name == name && u.state == UnitState::Active)
        };
        let other = Seen { serves, ..Seen::ELSEWHERE };
        Ok(match task.id {
            "task1" => Seen { nginx_runs: runs("nginx"), ..other },
            "task2" => {
                let app = host.units.iter().find(|u| u.name == "app").map_or(0, |u| u.pid);
                let holder = host.sockets.iter().find(|s| s.port == PORT).map(|s| s.pid);
                let mut processes = host.processes.iter();
                Seen {
                    zombie_lives: processes
                        .any(|p| p.pid == SQUATTER && p.state != ProcessState::Zombie),
                    port_free: holder.is_none_or(|pid| pid == app),
                    ..other
                }
            }
            _ => {
                let share = host.disk.used / host.disk.capacity.max(1.0);
                let log = |f: &model::FileView| f.path == "/var/log/app.log" && f.size > 1e9;
                Seen {
                    disk_percent: (100.0 * share).round() as i64,
                    log_exists: host.files.iter().any(|f| log(f) && !f.deleted),
                    db_runs: runs("postgresql"),
                    ..other
                }
            }
        })
    }

    fn solves(&self, task: &Task) -> bool {
        let mended = match task.id {
            "task1" => self.nginx_runs,
            "task2" => !self.zombie_lives && self.port_free,
            _ => self.disk_percent < DISK_FULL && self.db_runs,
        };
        mended && self.serves
    }

    /// Half of the work, where a task has two halves.
    fn half(&self, task: &Task) -> bool {
        task.id == "task3" && ((self.disk_percent < DISK_FULL) != self.db_runs)
    }
}

/// A task that was begun.
#[derive(Debug)]
struct Run {
    task: &'static Task,
    play: Play,
    seen: Seen,
    steps: u32,
    done: bool,
    commands: Vec<String>,
    completion: bool,
    diagnostic: bool,
    partial: bool,
}

impl Run {
    async fn begin(stage: &Arc<Stage>, task: &'static Task) -> Result<Run, Trouble> {
        let play = stage.begin(task.scenario, SEED).await?;
        let seen = Seen::of(task, &play).await?;
        Ok(Run {
            task,
            play,
            seen,
            steps: 0,
            done: false,
            commands: Vec::new(),
            completion: false,
            diagnostic: false,
            partial: false,
        })
    }

    /// Runs a command and says what came of it.
    async fn step(&mut self, command: &str) -> Result<Value, Trouble> {
        if self.done {
            self.steps += 1;
            let text = "Task already completed.";
            return Ok(answer(&Printed { out: text.into(), ..Printed::default() }, self, None));
        }
        let bare = command.trim();
        // An empty line is one, too.
        let line = if bare.is_empty() { ":" } else { bare };
        let line = json!({"action": "shell", "host": self.task.host, "command": line});
        let result = self.play.act(line).await?;
        self.steps += 1;
        self.commands.push(bare.strip_prefix("sudo ").unwrap_or(bare).trim().to_string());
        let (printed, over) = match &result.data {
            Some(data) => (Printed::of(bare, data), false),
            None => (Printed { err: result.message, code: 1, ..Printed::default() }, true),
        };
        self.seen = Seen::of(self.task, &self.play).await?;
        let reward = self.reward(printed.showed);
        self.done = self.completion || over || self.steps >= STEPS_MAX;
        Ok(answer(&printed, self, Some(reward)))
    }

    /// What the step pays: the first of these that applies, each once.
    fn reward(&mut self, showed: bool) -> (f64, &'static str) {
        if self.seen.solves(self.task) {
            self.completion = true;
            return (1.0, "The incident is over: users are served.");
        }
        if self.seen.half(self.task) && !self.partial {
            self.partial = true;
            return (0.3, "One half is done, the other is not.");
        }
        if showed && !self.diagnostic {
            self.diagnostic = true;
            return (0.1, "The first look at the system.");
        }
        (0.0, "No progress.")
    }

    fn state(&self) -> Value {
        let seen = &self.seen;
        json!({
            "task_id": self.task.id,
            "step_count": self.steps,
            "max_steps": STEPS_MAX,
            "done": self.done,
            "nginx_status": if seen.nginx_runs { "running" } else { "inactive" },
            "zombie_pid_alive": seen.zombie_lives,
            "port_8080_free": seen.port_free,
            "disk_usage_percent": seen.disk_percent,
            "large_log_exists": seen.log_exists,
            "db_status": if seen.db_runs { "running" } else { "crashed" },
            "diagnostic_commands_run": self.commands,
            "completion_rewarded": self.completion,
            "diagnostic_rewarded": self.diagnostic,
            "partial_rewarded": self.partial,
        })
    }
}

/// What a command printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Printed {
    out: String,
    err: String,
    code: i64,
    showed: bool,
}

impl Printed {
    fn of(line: &str, data: &Value) -> Printed {
        let text = |key: &str| data[key].as_str().unwrap_or_default().to_string();
        let code = data["exit_code"].as_i64().unwrap_or(0);
        Printed {
            out: text("stdout"),
            err: text("stderr"),
            code: if asks_for_status(line) { 0 } else { code },
            showed: data["showed"].as_bool().unwrap_or(false),
        }
    }
}

/// Whether a line is nothing but `systemctl status`, which the original ends with 0 whatever the
/// unit does.
fn asks_for_status(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| *word == "sudo");
    let plain = !line.contains(['|', '&', ';', '<', '>', '\n', '(', ')', '`', '#']);
    plain
        && words.next() == Some("systemctl")
        && words.find(|word| !word.starts_with('-')) == Some("status")
}

/// The answer to a step; a task that was over before it has no reward, and its observation is the
/// one that clients of the protocol know an ended task by.
fn answer(printed: &Printed, run: &Run, reward: Option<(f64, &str)>) -> Value {
    let (number, done) = if reward.is_some() { (run.steps, run.done) } else { (0, false) };
    let (value, reason) = reward.unwrap_or((0.0, "The task is over."));
    json!({
        "observation": {
            "stdout": printed.out,
            "stderr": printed.err,
            "exit_code": printed.code,
            "step_number": number,
            "done": done,
        },
        "reward": {"value": value, "reason": reason},
        "done": run.done,
    })
}

/// Tasks of one session by their ids.
type Runs = BTreeMap<&'static str, Run>;
type Shared = State<Arc<Rooms<Runs>>>;
type Asked = Query<BTreeMap<String, String>>;

fn routes(stage: Arc<Stage>) -> Router {
    Router::new()
        .route("/health", get(|| async { reply::ok(&json!({"status": "ok"})) }))
        .route("/reset", post(reset))
        .route("/step", post(step))
        .route("/state", get(state))
        .with_state(Rooms::<Runs>::new(stage))
}

async fn reset(State(rooms): Shared, caller: Caller, Query(asked): Asked) -> Response {
    let task = asked.get("task_id").map_or("task1", String::as_str).to_string();
    let work = move |stage: Arc<Stage>, mut runs: tokio::sync::OwnedMutexGuard<Runs>| async move {
        let task = find(&task)?;
        // The episode before makes its place free first.
        runs.remove(task.id);
        runs.insert(task.id, Run::begin(&stage, task).await?);
        Ok(reply::ok(&json!({"stdout": task.alert})))
    };
    rooms.answer(&caller, work).await
}

async fn step(State(rooms): Shared, caller: Caller, Query(asked): Asked, body: Bytes) -> Response {
    let work = move |_: Arc<Stage>, mut runs: tokio::sync::OwnedMutexGuard<Runs>| async move {
        let task = named(&asked);
        let mut reader = Reader::body(&body)?;
        let command = reader.text_up_to("command", COMMAND_MAX, None);
        reader.text_up_to("explanation", EXPLANATION_MAX, Some(""));
        reader.end()?;
        let run = begun(&mut runs, &task?)?;
        Ok(reply::ok(&run.step(&command).await?))
    };
    rooms.answer(&caller, work).await
}

async fn state(State(rooms): Shared, caller: Caller, Query(asked): Asked) -> Response {
    let work = move |_: Arc<Stage>, mut runs: tokio::sync::OwnedMutexGuard<Runs>| async move {
        let run = begun(&mut runs, &named(&asked)?)?;
        Ok(reply::ok(&run.state()))
    };
    rooms.answer(&caller, work).await
}

fn named(asked: &BTreeMap<String, String>) -> Result<String, Refused> {
    let missing = || reply::invalid(&[Item::missing(&["query", "task_id"], &Value::Null)]);
    asked.get("task_id").cloned().ok_or_else(missing)
}

fn find(id: &str) -> Result<&'static Task, Refused> {
    TASKS.iter().find(|task| task.id == id).ok_or_else(|| {
        let ids: Vec<_> = TASKS.iter().map(|task| task.id).collect();
        let sentence = format!("Invalid task_id: expected one of {}", ids.join(", "));
        reply::detail(StatusCode::BAD_REQUEST, &sentence)
    })
}

fn begun<'r>(runs: &'r mut Runs, id: &str) -> Result<&'r mut Run, Refused> {
    let task = find(id)?;
    runs.get_mut(task.id).ok_or_else(|| {
        let sentence = format!("{id} was not begun: reset it first");
        reply::detail(StatusCode::NOT_FOUND, &sentence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bare_question_for_a_status_ends_as_at_the_original() {
        for (line, bare) in [
            ("systemctl status nginx", true),
            ("sudo systemctl --no-pager status nginx", true),
            ("systemctl status", true),
            ("systemctl status nginx || systemctl start nginx", false),
            ("systemctl is-active nginx", false),
            ("systemctl start status", false),
            ("echo systemctl status nginx", false),
            ("", false),
        ] {
            assert_eq!(asks_for_status(line), bare, "{line}");
        }
    }
}
