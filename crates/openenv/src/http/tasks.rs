//! The task routes. A task is a name and a seed, ready to be sent to `/reset`.

use super::{Shared, detail, json_text, object, unprocessable};
use crate::desk::Desk;
use crate::environment::{Catalogue, Split};
use crate::item::Item;
use crate::options::integer;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use std::ops::Range;

type Fields = serde_json::Map<String, Value>;

pub(crate) async fn environments(State(desk): Shared) -> Response {
    json_text(json!([name(&desk)]).to_string())
}

pub(crate) async fn splits(State(desk): Shared, Path(env): Path<String>) -> Response {
    if let Err(response) = known(&desk, &env) {
        return *response;
    }
    let each = desk.environment.catalogue().splits.iter().map(|split| {
        let kind = match split.name {
            "train" | "test" => split.name,
            _ => "validation",
        };
        json!({
            "name": split.name, "type": kind, "first_seed": split.first, "last_seed": split.last,
        })
    });
    json_text(Value::from(each.collect::<Vec<_>>()).to_string())
}

pub(crate) async fn list(
    State(desk): Shared,
    Path(env): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    whole(asked(&desk, &env, &headers, &body).map(|(split, _)| {
        let catalogue = desk.environment.catalogue();
        let tasks = tasks(catalogue, split, 0..number_of(catalogue, split));
        json!({"tasks": tasks, "env_name": name(&desk)})
    }))
}

pub(crate) async fn number(
    State(desk): Shared,
    Path(env): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    whole(
        asked(&desk, &env, &headers, &body)
            .map(|(split, _)| json!({"num_tasks": number_of(desk.environment.catalogue(), split)})),
    )
}

pub(crate) async fn one(
    State(desk): Shared,
    Path(env): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    whole(asked(&desk, &env, &headers, &body).and_then(|(split, given)| {
        let catalogue = desk.environment.catalogue();
        let at = match given.get("index") {
            Some(value) => position("index", value)?,
            None => {
                let item = Item::missing(&["body", "index"], &given.into());
                return Err(Box::new(unprocessable(&[item])));
            }
        };
        let at = at.filter(|at| *at < number_of(catalogue, split)).ok_or_else(no_index)?;
        let mut task = tasks(catalogue, split, at..at + 1);
        Ok(json!({"task": task.pop()}))
    }))
}

pub(crate) async fn range(
    State(desk): Shared,
    Path(env): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    whole(asked(&desk, &env, &headers, &body).and_then(|(split, given)| {
        let catalogue = desk.environment.catalogue();
        let number = number_of(catalogue, split);
        let bound = |field: &str, default: u64| match given.get(field) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => position(field, value)?.ok_or_else(no_index),
        };
        let (start, stop) = (bound("start", 0)?, bound("stop", number)?);
        if start > stop || stop > number {
            return Err(no_index());
        }
        Ok(json!({"tasks": tasks(catalogue, split, start..stop)}))
    }))
}

fn whole(answer: Result<Value, Box<Response>>) -> Response {
    match answer {
        Ok(value) => json_text(value.to_string()),
        Err(response) => *response,
    }
}

fn name(desk: &Desk) -> &str {
    &desk.environment.catalogue().about.name
}

fn known(desk: &Desk, env: &str) -> Result<(), Box<Response>> {
    if env.eq_ignore_ascii_case(name(desk)) {
        return Ok(());
    }
    let shown: String = env.chars().take(100).collect();
    let why = format!("unknown environment '{shown}'");
    Err(Box::new(detail(StatusCode::NOT_FOUND, why)))
}

/// The split that a request asks for, and the rest of its body.
fn asked<'d>(
    desk: &'d Desk,
    env: &str,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<(&'d Split, Fields), Box<Response>> {
    known(desk, env)?;
    let invalid = |items: Vec<Item>| Box::new(unprocessable(&items));
    let given = object(headers, body, false).map_err(invalid)?;
    let wanted = match given.get("split") {
        Some(Value::String(split)) => split.clone(),
        Some(other) => {
            let msg = "Input should be a valid string";
            let item = Item::new("string_type", &["body", "split"], msg, other.clone());
            return Err(invalid(vec![item]));
        }
        None => return Err(invalid(vec![Item::missing(&["body", "split"], &given.into())])),
    };
    let splits = &desk.environment.catalogue().splits;
    let split = splits.iter().find(|split| split.name == wanted).ok_or_else(|| {
        let names: Vec<_> = splits.iter().map(|split| split.name).collect();
        let why = format!("unknown split; expected one of {}", names.join(", "));
        Box::new(detail(StatusCode::BAD_REQUEST, why))
    })?;
    Ok((split, given))
}

/// A position; `None` where it is negative or absurd.
fn position(field: &str, value: &Value) -> Result<Option<u64>, Box<Response>> {
    let whole =
        integer(&["body", field], value).map_err(|item| Box::new(unprocessable(&[*item])))?;
    Ok(u64::try_from(whole).ok())
}

fn no_index() -> Box<Response> {
    Box::new(detail(StatusCode::BAD_REQUEST, "Invalid task index"))
}

fn number_of(catalogue: &Catalogue, split: &Split) -> u64 {
    catalogue.tasks.len() as u64 * split.listed
}

/// All tasks with the first seed, then all with the next.
fn tasks(catalogue: &Catalogue, split: &Split, range: Range<u64>) -> Vec<Value> {
    let names = &catalogue.tasks;
    let count = names.len().max(1) as u64;
    let each = range.filter_map(|at| {
        let name = names.get(usize::try_from(at % count).ok()?)?;
        Some(json!({"task": name, "seed": split.first + at / count}))
    });
    each.collect()
}
