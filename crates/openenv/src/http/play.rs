//! `/reset`, `/step` and `/state`. Without a session id each call has an environment for itself,
//! as OpenEnv means it; a client that sends back the id it got from `/reset`, in the header or as
//! the cookie, plays an episode.

use super::{
    SESSION, Shared, denied, detail, json_text, object, refused, session_of, unprocessable,
};
use crate::desk::Desk;
use crate::environment::{Fields, Refusal};
use crate::item::Item;
use crate::options::{NAME_MAX, Options};
use crate::play::{Reply, Session};
use crate::table::{Denied, Owner};
use crate::wire;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::Arc;

const COOKIE_NAME: &str = "openenv_session";

/// The session that a request names.
enum Named {
    Nothing,
    Known(Arc<Session>),
}

/// In the header, else in the cookie.
async fn named(desk: &Desk, headers: &HeaderMap) -> Result<Named, Denied> {
    match session_of(headers).or_else(|| cookie(headers)) {
        Some(id) => {
            desk.table.recall(&id, Owner::Http).await?;
            desk.table.take_up(&id).map(Named::Known)
        }
        None => Ok(Named::Nothing),
    }
}

fn cookie(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    let mine = pairs.filter(|(name, id)| name.trim() == COOKIE_NAME && !id.trim().is_empty());
    mine.map(|(_, id)| id.trim().to_string()).next()
}

pub(crate) async fn reset(State(desk): Shared, headers: HeaderMap, body: Bytes) -> Response {
    let options = object(&headers, &body, true).and_then(|given| {
        let below = |items: Vec<Item>| items.into_iter().map(|item| item.below(&["body"]));
        Options::read(&given).map_err(|items| below(items).collect())
    });
    let options = match options {
        Ok(options) => options,
        Err(items) => return unprocessable(&items),
    };
    let session = match named(&desk, &headers).await {
        Ok(Named::Known(session)) => session,
        Ok(Named::Nothing) => desk.table.offer(),
        // A cookie of another day is no reason to refuse to begin.
        Err(Denied::Unknown(_)) if session_of(&headers).is_none() => desk.table.offer(),
        Err(why) => return denied(&why),
    };
    let own = session.clone();
    let replied = desk.whole(async move { own.reset(options).await }).await;
    let id = session.id.as_deref().unwrap_or_default();
    let mut response = respond(replied);
    if response.status() == StatusCode::OK {
        let cookie = format!("{COOKIE_NAME}={id}; Path=/; HttpOnly; SameSite=Strict");
        for (name, value) in [(SESSION, id), (SET_COOKIE.as_str(), &cookie)] {
            if let (Ok(name), Ok(value)) =
                (name.parse::<axum::http::HeaderName>(), HeaderValue::from_str(value))
            {
                response.headers_mut().insert(name, value);
            }
        }
    }
    response
}

pub(crate) async fn step(State(desk): Shared, headers: HeaderMap, body: Bytes) -> Response {
    let action = match object(&headers, &body, false).and_then(action) {
        Ok(action) => action,
        Err(items) => return unprocessable(&items),
    };
    let named = match named(&desk, &headers).await {
        Ok(named) => named,
        Err(why) => return denied(&why),
    };
    let own = desk.clone();
    let replied = desk.whole(async move {
        match named {
            Named::Known(session) => {
                let replied = session.step(action).await;
                if !session.goes_on().await {
                    own.table.put_down(&session);
                }
                replied
            }
            Named::Nothing => {
                let _permit = own.throwaway.acquire().await;
                let session = own.passing();
                let replied = session.step(action).await;
                session.end(false).await;
                replied
            }
        }
    });
    respond(replied.await)
}

pub(crate) async fn state(State(desk): Shared, headers: HeaderMap) -> Response {
    let state = match named(&desk, &headers).await {
        Ok(Named::Known(session)) => session.state(false).await,
        Ok(Named::Nothing) => desk.passing().state(false).await,
        Err(why) => return denied(&why),
    };
    json_text(state.to_string())
}

fn respond(replied: Option<Result<Arc<Reply>, Refusal>>) -> Response {
    match replied {
        Some(Ok(reply)) => json_text(wire::body(&reply)),
        Some(Err(refusal)) => refused(&refusal),
        None => {
            detail(StatusCode::INTERNAL_SERVER_ERROR, "a defect of the server ended the request")
        }
    }
}

/// The action of a step, whose other fields have to be what they are said to be.
fn action(mut given: Fields) -> Result<Fields, Vec<Item>> {
    let mut wrong = Vec::new();
    match given.get("timeout_s") {
        None | Some(Value::Null) => {}
        Some(value) => match value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()) {
            Some(seconds) if seconds > 0.0 => {}
            Some(_) => {
                let msg = "Input should be greater than 0";
                let item = Item::new("greater_than", &["body", "timeout_s"], msg, value.clone());
                wrong.push(item.with(json!({"gt": 0})));
            }
            None => {
                let msg = "Input should be a valid number";
                wrong.push(Item::new("float_type", &["body", "timeout_s"], msg, value.clone()));
            }
        },
    }
    match given.get("request_id") {
        None | Some(Value::Null) => {}
        Some(Value::String(id)) if id.chars().count() <= NAME_MAX => {}
        Some(value @ Value::String(_)) => {
            let msg = format!("String should have at most {NAME_MAX} characters");
            let item = Item::new("string_too_long", &["body", "request_id"], msg, value.clone());
            wrong.push(item.with(json!({"max_length": NAME_MAX})));
        }
        Some(value) => {
            let msg = "Input should be a valid string";
            wrong.push(Item::new("string_type", &["body", "request_id"], msg, value.clone()));
        }
    }
    let whole = Value::Object(given.clone());
    let action = match given.remove("action") {
        Some(Value::Object(action)) => Some(action),
        Some(other) => {
            wrong.push(Item::no_object(&["body", "action"], &other));
            None
        }
        None => {
            wrong.push(Item::missing(&["body", "action"], &whole));
            None
        }
    };
    match action {
        Some(action) if wrong.is_empty() => Ok(action),
        _ => Err(wrong),
    }
}
