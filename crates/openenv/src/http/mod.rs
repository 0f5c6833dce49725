//! Requests over HTTP.

pub(crate) mod play;
pub(crate) mod tasks;

use crate::desk::Desk;
use crate::environment::{Fields, Refusal};
use crate::item::Item;
use crate::rpc as json_rpc;
use crate::table::Denied;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, LOCATION, UPGRADE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::Arc;

/// The header that names a session, both ways.
pub(crate) const SESSION: &str = "openenv-session-id";

type Shared = State<Arc<Desk>>;

fn answer(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    (status, [(CONTENT_TYPE, kind)], body.into()).into_response()
}

fn json_text(body: impl Into<Body>) -> Response {
    answer(StatusCode::OK, "application/json", body)
}

fn detail(status: StatusCode, detail: impl Into<Value>) -> Response {
    answer(status, "application/json", json!({"detail": detail.into()}).to_string())
}

fn unprocessable(items: &[Item]) -> Response {
    let items = serde_json::to_value(items).unwrap_or_default();
    detail(StatusCode::UNPROCESSABLE_ENTITY, items)
}

fn refused(refusal: &Refusal) -> Response {
    match refusal {
        Refusal::Invalid(items) => unprocessable(items),
        Refusal::Failed(why) => detail(StatusCode::SERVICE_UNAVAILABLE, why.as_str()),
        Refusal::NotNow(why) => detail(StatusCode::CONFLICT, why.as_str()),
    }
}

fn denied(denied: &Denied) -> Response {
    let status = match denied {
        Denied::Full { .. } | Denied::Failed(_) => StatusCode::SERVICE_UNAVAILABLE,
        Denied::Unknown(_) => StatusCode::NOT_FOUND,
        Denied::Taken(_) => StatusCode::CONFLICT,
    };
    detail(status, denied.sentence())
}

/// Not now.
pub(crate) fn busy(why: String) -> Response {
    detail(StatusCode::SERVICE_UNAVAILABLE, why)
}

/// The session that a request names in its header.
pub(crate) fn session_of(headers: &HeaderMap) -> Option<String> {
    let named = headers.get(SESSION)?.to_str().ok()?.trim();
    (!named.is_empty()).then(|| named.to_string())
}

/// The object in a body. `optional`: the body may be empty.
fn object(headers: &HeaderMap, body: &Bytes, optional: bool) -> Result<Fields, Vec<Item>> {
    if body.is_empty() {
        return match optional {
            true => Ok(Fields::new()),
            false => Err(vec![Item::missing(&["body"], &Value::Null)]),
        };
    }
    let text = String::from_utf8_lossy(body);
    let no_object = |input: Value| {
        let msg = "Input should be a valid dictionary or object to extract fields from";
        Err(vec![Item::new("model_attributes_type", &["body"], msg, input)])
    };
    if !is_json(headers) {
        return no_object(Value::from(&*text));
    }
    match serde_json::from_str(&text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(other) => no_object(other),
        Err(error) => Err(vec![Item::no_json(&text, &error)]),
    }
}

/// A body of unnamed type is taken for JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(CONTENT_TYPE) else { return true };
    let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    let kind = kind.trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

pub(crate) async fn health() -> Response {
    json_text(r#"{"status":"healthy"}"#)
}

pub(crate) async fn metadata(State(desk): Shared) -> Response {
    json_text(desk.texts.metadata.clone())
}

pub(crate) async fn schema(State(desk): Shared) -> Response {
    json_text(desk.texts.schema.clone())
}

pub(crate) async fn openapi(State(desk): Shared) -> Response {
    json_text(desk.texts.openapi.clone())
}

pub(crate) async fn front(State(desk): Shared) -> Response {
    answer(StatusCode::OK, "text/html; charset=utf-8", desk.texts.page.clone())
}

pub(crate) async fn docs(State(desk): Shared) -> Response {
    answer(StatusCode::OK, "text/html; charset=utf-8", desk.texts.docs.clone())
}

/// JSON-RPC: every answer is 200.
pub(crate) async fn rpc(State(desk): Shared, body: Bytes) -> Response {
    let own = desk.clone();
    let reply = desk.whole(async move { json_rpc::on_http(&own, &body).await }).await;
    let reply = reply.map(|reply| reply.to_string()).unwrap_or_else(|| {
        let why = "a defect of the server ended the call".to_string();
        json_rpc::failure(&Value::Null, json_rpc::FAILED, why, Fields::new())
    });
    json_text(reply)
}

/// No route: a socket is refused, a known route with a slash behind it is pointed to.
pub(crate) async fn not_found(uri: Uri, headers: HeaderMap) -> Response {
    if headers.contains_key(UPGRADE) {
        return detail(StatusCode::FORBIDDEN, "no socket is served here: /ws and /mcp are");
    }
    let path = uri.path();
    match path.strip_suffix('/').filter(|path| !path.is_empty() && !path.ends_with('/')) {
        Some(stripped) => {
            let to = match uri.query() {
                Some(query) => format!("{stripped}?{query}"),
                None => stripped.to_string(),
            };
            (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, to)]).into_response()
        }
        None => no_such_page(),
    }
}

pub(crate) fn no_such_page() -> Response {
    detail(StatusCode::NOT_FOUND, "Not Found")
}

pub(crate) async fn not_allowed() -> Response {
    detail(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
}
