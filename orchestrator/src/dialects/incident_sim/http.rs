//! The Production Incident Response Simulator over HTTP.

use super::round::Round;
use super::tasks::{TARGETS, TASKS, TYPES, Task, find};
use super::{DIALECT, Session, Sessions};
use crate::stage::{Caller, Reader, Refused, reply};
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value, json};

const SERVICE: &str = "incident-response-simulator";
const DESCRIPTION: &str = "Five services and an incident: mend it in few steps.";

pub(super) async fn front() -> Response {
    let endpoints = DIALECT.endpoints.iter();
    let endpoints: Map<_, _> =
        endpoints.map(|one| (one.path.to_string(), Value::from(one.doc))).collect();
    reply::ok(&json!({
        "name": SERVICE,
        "version": DIALECT.version,
        "openenv": true,
        "description": DESCRIPTION,
        "endpoints": endpoints,
        "quickstart": "POST /reset {\"task_id\": \"easy\"}, then POST /step with type and target.",
    }))
}

pub(super) async fn health() -> Response {
    reply::ok(&json!({"status": "healthy", "service": SERVICE, "version": DIALECT.version}))
}

pub(super) async fn metadata() -> Response {
    let tasks: Vec<_> = TASKS.iter().map(|task| task.id).collect();
    reply::ok(&json!({
        "name": SERVICE, "description": DESCRIPTION, "version": DIALECT.version, "tasks": tasks,
    }))
}

pub(super) async fn schema() -> Response {
    let observation = json!({"type": "object", "fields": OBSERVATION});
    reply::ok(&json!({
        "action": {
            "type": "object",
            "description": "What to do, and to which service.",
            "fields": {"type": "string", "target": "string", "params": "object, not used"},
            "actions": TYPES,
        },
        "observation": observation,
        "state": observation,
        "reward": {
            "range": [-1.0, 1.0],
            "description": "Per step; the score is in the observation.",
            "components": {
                "goal_met": "0.80 shared among the goals", "complete": 0.20, "wrong": -0.12,
                "step": -0.02,
            },
            "final_score": "0 to 1, score_so_far of the last observation",
        },
    }))
}

const OBSERVATION: [&str; 14] = [
    "task_id",
    "task_name",
    "difficulty",
    "scenario",
    "hint",
    "services",
    "logs",
    "alerts",
    "dependencies",
    "business_impact",
    "step_number",
    "max_steps",
    "done",
    "score_so_far",
];

pub(super) async fn tasks() -> Response {
    let tasks: Vec<_> = TASKS
        .iter()
        .map(|task| {
            let Task { id, name, story, hint, steps_max, goals, .. } = task;
            json!({
                "id": id, "name": name, "difficulty": id, "scenario": story, "hint": hint,
                "max_steps": steps_max, "required_actions": goals.len(),
            })
        })
        .collect();
    reply::ok(&json!({
        "tasks": tasks, "total_tasks": TASKS.len(), "valid_action_types": TYPES,
        "valid_targets": TARGETS,
    }))
}

/// The task that a reset asks for.
fn wanted(body: &Bytes) -> Result<&'static Task, Refused> {
    let reader = match body.is_empty() || body.trim_ascii() == b"null" {
        true => return Ok(&TASKS[0]),
        false => Reader::body(body)?,
    };
    let id = match reader.get("task_id") {
        None => return Ok(&TASKS[0]),
        Some(id) => id.as_str().unwrap_or_default(),
    };
    find(id).ok_or_else(|| {
        let known: Vec<_> = TASKS.iter().map(|task| task.id).collect();
        reply::bad(&format!("Unknown task_id: expected one of {}", known.join(", ")))
    })
}

pub(super) async fn reset(
    State(rooms): State<Sessions>,
    caller: Caller,
    body: Bytes,
) -> Response {
    rooms
        .answer(&caller, |stage, mut session| async move {
            let round = Round::begin(&stage, wanted(&body)?).await?;
            *session.episodes.entry(round.task.id).or_default() += 1;
            let observation = round.observation();
            session.round = Some(round);
            Ok(reply::ok(&observation))
        })
        .await
}

pub(super) async fn step(
    State(rooms): State<Sessions>,
    caller: Caller,
    body: Bytes,
) -> Response {
    rooms
        .answer(&caller, |_, mut session| async move {
            let mut reader = Reader::body(&body)?;
            let (kind, target) = (reader.text("type"), reader.text("target"));
            drop(reader.object("params"));
            reader.end()?;
            let Session { round, steps, solved, .. } = &mut *session;
            let Some(round) = round.as_mut() else {
                return Err(reply::bad("There is no episode: call reset() before step()."));
            };
            if round.done {
                return Err(reply::bad("The episode is over: call reset() for another one."));
            }
            let turn = round.step(&kind, &target).await?;
            *steps += 1;
            *solved += u64::from(round.solved());
            Ok(reply::ok(&json!({
                "observation": round.observation(),
                "reward": turn.reward,
                "done": round.done,
                "info": turn.info,
            })))
        })
        .await
}

pub(super) async fn state(State(rooms): State<Sessions>, caller: Caller) -> Response {
    rooms
        .answer(&caller, |_, session| async move {
            match &session.round {
                Some(round) => Ok(reply::ok(&round.observation())),
                None => Err(reply::bad("There is no episode: call reset() first.")),
            }
        })
        .await
}

/// Counts of the session: another client's episodes are none of its business.
pub(super) async fn metrics(State(rooms): State<Sessions>, caller: Caller) -> Response {
    rooms
        .answer(&caller, |_, session| async move {
            let Session { began, episodes, steps, solved, .. } = &*session;
            let total: u64 = episodes.values().sum();
            let share = |part: u64, digits: f64| {
                let share = part as f64 / total.max(1) as f64;
                (share * digits).round() / digits
            };
            let each = TASKS.iter().map(|task| {
                (task.id.to_string(), episodes.get(task.id).copied().unwrap_or(0).into())
            });
            Ok(reply::ok(&json!({
                "uptime_seconds": began.elapsed().as_secs(),
                "total_episodes": total,
                "episodes_by_task": each.collect::<Map<String, Value>>(),
                "total_steps": steps,
                "solved_episodes": solved,
                "solve_rate": share(*solved, 1e4),
                "avg_steps_per_episode": share(*steps, 100.0),
            })))
        })
        .await
}

/// A stub of JSON-RPC, as the original has it.
pub(super) async fn mcp(body: Bytes) -> Response {
    let request = match Reader::body(&body) {
        Ok(request) => request,
        Err(refused) => return axum::response::IntoResponse::into_response(refused),
    };
    let id = request.get("id").cloned().unwrap_or(Value::Null);
    let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2024-11-05",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": SERVICE, "version": DIALECT.version},
        }),
        "tools/list" => json!({"tools": []}),
        other => json!({"status": "ok", "method": other}),
    };
    reply::ok(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}
