//! The dialect `triage`: alerts are investigated, diagnosed, ranked, repaired and verified by acts
//! with free text in them. Ten components by name, three tasks, six situations.

mod deeds;
mod desk;
mod diagnoses;
mod evidence;
mod figures;
mod incidents;
mod remedies;
mod status;
mod tally;
mod tasks;
mod twister;
mod words;

use super::Dialect;
use crate::stage::{Caller, Endpoint, Refused, Rooms, Stage, reply};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use desk::{Act, Desk, Incumbent};
use openenv::Item;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tasks::{TASKS, Task};

const VERSION: &str = "1.0.0";
/// Longest name of an episode, bytes.
const ID_MAX: usize = 128;

pub(super) const DIALECT: Dialect = Dialect {
    name: "triage",
    summary: "alerts with free-text diagnoses and remediations; three tasks",
    version: VERSION,
    scenarios: &[
        "triage/certificate",
        "triage/connection-pool",
        "triage/disk-space",
        "triage/dns-deploy",
        "triage/full-stack",
        "triage/memory-leak",
    ],
    endpoints: &[
        Endpoint::new("get", "/health", "Says that it serves."),
        Endpoint::new("post", "/reset", "Begins an episode: task_name, seed, episode_id."),
        Endpoint::new("post", "/step", "Takes an act: action_type, target, parameters."),
        Endpoint::new("get", "/state", "The counts of the episode."),
        Endpoint::new("get", "/tasks", "The tasks."),
        Endpoint::new("get", "/grade", "The grade so far, and what it is made of."),
    ],
    routes,
};

type Desks = Arc<Rooms<Desk>>;

fn routes(stage: Arc<Stage>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/tasks", get(tasks))
        .route("/reset", post(reset))
        .route("/step", post(step))
        .route("/state", get(state))
        .route("/grade", get(grade))
        .with_state(Rooms::<Desk>::new(stage))
}

async fn health() -> Response {
    let name = "incident_triage_env";
    reply::ok(&json!({"status": "healthy", "environment": name, "version": VERSION}))
}

async fn tasks() -> Response {
    let tasks: Vec<_> = TASKS.iter().map(Task::listed).collect();
    reply::ok(&json!({"tasks": tasks}))
}

/// What a reset asks for.
#[derive(Debug)]
struct Wanted {
    task: &'static Task,
    seed: Option<u64>,
    id: Option<String>,
}

impl Wanted {
    /// A body that is no JSON asks for nothing in particular; a list is refused.
    fn of(body: &Bytes) -> Result<Wanted, Refused> {
        let fields = match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => fields,
            Err(_) => Map::new(),
            Ok(other) => return Err(reply::invalid(&[no_object(&["body"], other)])),
        };
        let name = match fields.get("task_name") {
            None => TASKS[0].name.to_string(),
            Some(Value::String(name)) => name.clone(),
            Some(other) => return Err(no_text("task_name", other)),
        };
        let task = tasks::find(&name).ok_or_else(|| {
            let names: Vec<_> = TASKS.iter().map(|task| task.name).collect();
            reply::bad(&format!("Unknown task {name:?}; there are {}", names.join(", ")))
        })?;
        let seed = match fields.get("seed") {
            None | Some(Value::Null) => None,
            Some(seed) => match (seed.as_u64(), seed.as_i64()) {
                (Some(seed), _) => Some(seed),
                (None, Some(seed)) => Some(seed.unsigned_abs()),
                (None, None) => {
                    let message = "Input should be a valid integer";
                    let place = &["body", "seed"];
                    return Err(reply::invalid(&[Item::new(
                        "int_type",
                        place,
                        message,
                        seed.clone(),
                    )]));
                }
            },
        };
        let id = match fields.get("episode_id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if id.len() <= ID_MAX => Some(id.clone()),
            Some(other) => return Err(no_text("episode_id", other)),
        };
        Ok(Wanted { task, seed, id })
    }
}

fn no_object(place: &[&str], input: Value) -> Item {
    Item::new("dict_type", place, "Input should be a valid dictionary", input)
}

fn no_text(name: &str, input: &Value) -> Refused {
    let message = format!("Input should be a valid string of at most {ID_MAX} bytes");
    reply::invalid(&[Item::new("string_type", &["body", name], message, input.clone())])
}

/// A text as the original takes any JSON for one.
fn plain(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) => "None".into(),
        Some(other) => other.to_string(),
    }
}

fn act(body: &Bytes) -> Result<Act, Refused> {
    let fields = match reply::value(body)? {
        Value::Object(fields) => fields,
        other => return Err(reply::invalid(&[no_object(&["body"], other)])),
    };
    let parameters = match fields.get("parameters") {
        None => Map::new(),
        Some(Value::Object(parameters)) => parameters.clone(),
        Some(other) => {
            return Err(reply::invalid(&[no_object(&["body", "parameters"], other.clone())]));
        }
    };
    let (kind, target) = (plain(fields.get("action_type")), plain(fields.get("target")));
    Ok(Act { kind, target, parameters })
}

async fn reset(State(desks): State<Desks>, caller: Caller, body: Bytes) -> Response {
    let wanted = match Wanted::of(&body) {
        Ok(wanted) => wanted,
        Err(refusal) => return refusal.into_response(),
    };
    let begin = async move |stage: Arc<Stage>, mut desk: tokio::sync::OwnedMutexGuard<Desk>| {
        let Wanted { task, seed, id } = wanted;
        // The episode before makes room.
        desk.episode = None;
        let episode = Incumbent::begin(&stage, task, seed, id).await?;
        let opening = episode.opening();
        desk.episode = Some(episode);
        Ok(reply::ok(&opening))
    };
    desks.answer(&caller, begin).await
}

async fn step(State(desks): State<Desks>, caller: Caller, body: Bytes) -> Response {
    let act = match act(&body) {
        Ok(act) => act,
        Err(refusal) => return refusal.into_response(),
    };
    let play = async move |_: Arc<Stage>, mut desk: tokio::sync::OwnedMutexGuard<Desk>| {
        let Some(episode) = desk.episode.as_mut() else {
            return Err(reply::bad("there is no episode: call POST /reset first"));
        };
        Ok(reply::ok(&episode.step(&act).await?))
    };
    desks.answer(&caller, play).await
}

async fn state(State(desks): State<Desks>, caller: Caller) -> Response {
    let look = async |_: Arc<Stage>, desk: tokio::sync::OwnedMutexGuard<Desk>| {
        Ok(reply::ok(&desk.episode.as_ref().map_or_else(no_state, Incumbent::state)))
    };
    desks.answer(&caller, look).await
}

/// The counts before the first reset.
fn no_state() -> Value {
    json!({
        "episode_id": "",
        "step_count": 0,
        "task_name": "",
        "scenario_id": "",
        "total_incidents": 0,
        "resolved_incidents": 0,
        "correct_diagnoses": 0,
        "misdiagnosed": 0,
        "correct_priorities": 0,
        "correct_remediations": 0,
        "failed_remediations": 0,
        "time_elapsed": 0.0,
        "actions_taken": 0,
        "accumulated_reward": 0.0,
        "done": false,
    })
}

async fn grade(State(desks): State<Desks>, caller: Caller) -> Response {
    let look = async |_: Arc<Stage>, desk: tokio::sync::OwnedMutexGuard<Desk>| {
        let none = || json!({"score": 0.0, "breakdown": {}, "feedback": ["No episode so far"]});
        Ok(reply::ok(&desk.episode.as_ref().map_or_else(none, Incumbent::grade)))
    };
    desks.answer(&caller, look).await
}
