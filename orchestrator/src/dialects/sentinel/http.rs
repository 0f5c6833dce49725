//! Sentinel-SRE over HTTP.

use super::Sessions;
use super::round::{self, Round, Turn, uninitialized};
use super::tasks::{TASKS, Wish, listed};
use crate::stage::{Caller, Reader, Refused, reply};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use openenv::{Fields, Item};
use serde_json::{Value, json};

pub(super) async fn health() -> Response {
    reply::ok(&json!({"status": "healthy"}))
}

pub(super) async fn metadata() -> Response {
    reply::ok(&json!({
        "name": "sentinel-sre",
        "description": "Three services, one incident, ten attempts.",
        "readme_content": null,
        "version": super::DIALECT.version,
        "author": null,
        "documentation_url": null,
    }))
}

pub(super) async fn schema() -> Response {
    let of = |fields: &[(&str, &str)]| -> Value {
        let fields = fields.iter();
        let fields: Fields =
            fields.map(|(name, kind)| (name.to_string(), json!({"type": kind}))).collect();
        json!({"type": "object", "properties": fields})
    };
    let task = [("task_id", "string"), ("task_name", "string"), ("task_difficulty", "string")];
    let mut action = of(&[("command", "string"), ("target", "string"), ("metadata", "object")]);
    action["required"] = json!(["command"]);
    action["additionalProperties"] = false.into();
    let seen = [
        ("system_health", "number"),
        ("active_alerts", "array"),
        ("terminal_output", "string"),
        ("attempts_remaining", "integer"),
    ];
    let state = [
        ("episode_id", "string"),
        ("step_count", "integer"),
        ("task_description", "string"),
        ("sla_target_steps", "integer"),
        ("grader_id", "string"),
        ("incident_briefing", "string"),
        ("services_status", "object"),
        ("resolved", "boolean"),
    ];
    reply::ok(&json!({
        "action": action,
        "observation": of(&[&task[..], &seen[..]].concat()),
        "state": of(&[&task[..], &state[..]].concat()),
    }))
}

pub(super) async fn tasks() -> Response {
    let tasks: Vec<_> = TASKS.iter().map(listed).collect();
    reply::ok(&json!({"count": tasks.len(), "tasks": tasks}))
}

pub(super) async fn grade(
    State(rooms): State<Sessions>,
    caller: Caller,
    Path(task): Path<String>,
) -> Response {
    rooms
        .answer(&caller, |_, session| async move {
            let Some(known) = TASKS.iter().find(|one| one.id == task) else {
                let shown: String = task.chars().take(100).collect();
                let sentence = format!("Unknown task_id: {shown}");
                return Err(reply::detail(StatusCode::NOT_FOUND, &sentence));
            };
            let grade = session.grades[round::position(known)].clone();
            Ok(reply::ok(&grade.unwrap_or_else(|| round::ungraded(known))))
        })
        .await
}

pub(super) async fn validate(State(rooms): State<Sessions>, caller: Caller) -> Response {
    rooms
        .answer(&caller, |_, session| async move {
            let reports: Vec<_> = TASKS
                .iter()
                .zip(&session.grades)
                .map(|(task, grade)| grade.clone().unwrap_or_else(|| round::ungraded(task)))
                .collect();
            let within = |report: &Value| {
                report["score"].as_f64().is_some_and(|score| score > 0.0 && score < 1.0)
            };
            let bounds = reports.iter().all(within);
            let tasks: Vec<_> = TASKS.iter().map(listed).collect();
            let checks = json!({
                "task_count_at_least_3": tasks.len() >= 3,
                "all_tasks_have_graders": true,
                "all_scores_exclusive_bounds": bounds,
            });
            Ok(reply::ok(&json!({
                "checks": checks,
                "task_count": tasks.len(),
                "tasks": tasks,
                "grade_reports": reports,
                "passed": bounds,
            })))
        })
        .await
}

pub(super) async fn reset(
    State(rooms): State<Sessions>,
    caller: Caller,
    body: Bytes,
) -> Response {
    rooms
        .answer(&caller, |stage, mut session| async move {
            let fields = fields(&body)?;
            let wish = Wish::read(&fields).map_err(|item| refused(*item))?;
            if let Some(seed) = wish.seed.filter(|seed| *seed < 0) {
                let msg = "Input should be greater than or equal to 0";
                let item = Item::new("greater_than_equal", &["seed"], msg, json!(seed as i64));
                return Err(refused(item.with(json!({"ge": 0}))));
            }
            let round = Round::begin(&stage, &wish, &mut session.turn).await?;
            let turn = round.first();
            session.round = Some(round);
            Ok(reply::ok(&turn.value()))
        })
        .await
}

fn fields(body: &Bytes) -> Result<Fields, Refused> {
    if body.is_empty() {
        return Ok(Fields::new());
    }
    match reply::value(body)? {
        Value::Object(fields) => Ok(fields),
        other => Err(refused(Item::no_object(&[], &other))),
    }
}

fn refused(item: Item) -> Refused {
    reply::invalid(&[item.below(&["body"])])
}

/// A command and its target, of the fields of an action.
pub(super) fn action(fields: Fields) -> Result<(String, String), Vec<Item>> {
    let mut reader = Reader::new(fields);
    let told = (reader.text("command"), reader.text_or("target", ""));
    drop(reader.object("metadata"));
    reader.strict(&["command", "target", "metadata"]);
    let items = reader.items();
    if items.is_empty() { Ok(told) } else { Err(items) }
}

pub(super) async fn step(
    State(rooms): State<Sessions>,
    caller: Caller,
    body: Bytes,
) -> Response {
    rooms
        .answer(&caller, |_, mut session| async move {
            let mut reader = Reader::body(&body)?;
            if reader.get("action").is_none() {
                drop(reader.text("action"));
            }
            let fields = reader.object("action");
            reader.end()?;
            let (command, target) = action(fields).map_err(|items| {
                let below = |item: Item| item.below(&["body", "action"]);
                reply::invalid(&items.into_iter().map(below).collect::<Vec<_>>())
            })?;
            let turn = take(&mut session, &command, &target).await?;
            Ok(reply::ok(&turn.value()))
        })
        .await
}

/// A step of a session, whatever its transport.
pub(super) async fn take(
    session: &mut super::Session,
    command: &str,
    target: &str,
) -> Result<Turn, crate::stage::Trouble> {
    let Some(round) = session.round.as_mut() else { return Ok(uninitialized()) };
    let turn = round.step(command, target).await?;
    if turn.done {
        session.note();
    }
    Ok(turn)
}

/// The state of a session, whatever its transport.
pub(super) fn state_of(session: &super::Session) -> Value {
    match &session.round {
        Some(round) => round.state(),
        None => json!({"episode_id": "", "step_count": 0}),
    }
}

pub(super) async fn state(State(rooms): State<Sessions>, caller: Caller) -> Response {
    rooms.answer(&caller, |_, session| async move { Ok(reply::ok(&state_of(&session))) }).await
}

/// JSON-RPC, always answered with 200: the environment has no tools.
pub(super) async fn mcp(body: Bytes) -> Response {
    reply::ok(&rpc(&String::from_utf8_lossy(&body)))
}

/// The answer to a JSON-RPC request.
pub(super) fn rpc(text: &str) -> Value {
    let fault = |id: Value, code: i32, message: &str| {
        json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, "data": null}})
    };
    let Ok(request) = serde_json::from_str::<Value>(text) else {
        return fault(Value::Null, -32700, "Parse error");
    };
    let id = match &request["id"] {
        Value::String(_) | Value::Number(_) => request["id"].clone(),
        _ => Value::Null,
    };
    match (request["jsonrpc"].as_str(), request["method"].as_str()) {
        (Some("2.0"), Some("tools/list" | "tools/call")) => {
            fault(id, -32603, "Environment does not support MCP")
        }
        (Some("2.0"), Some(_)) => fault(id, -32601, "Method not found"),
        _ => fault(id, -32600, "Invalid Request"),
    }
}
