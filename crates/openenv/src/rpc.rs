//! JSON-RPC as OpenEnv means it by `/mcp`: tools and sessions, over HTTP and sockets. It looks like
//! the Model Context Protocol and is not: that is served beside it, see `tools`.

use crate::desk::Desk;
use crate::environment::{Fields, Refusal};
use crate::item::{Item, sentence};
use crate::lookup;
use crate::play::Session;
use crate::socket::{Answer, nothing_more};
use crate::table::{Closed, Denied, Owner};
use serde_json::{Value, json};
use std::sync::Arc;

const NO_JSON: i32 = -32700;
const NO_REQUEST: i32 = -32600;
const NO_METHOD: i32 = -32601;
const NO_PARAMS: i32 = -32602;
/// What was called failed.
pub(crate) const FAILED: i32 = -32603;
/// No room, or no session.
pub(crate) const NO_ROOM: i32 = -32000;

/// Where the other protocol is served, for clients that look for it here.
pub(crate) const STANDARD: &str = "/mcp/v1";

#[derive(Debug)]
struct Request {
    id: Value,
    method: String,
    params: Fields,
}

/// An error, and what it says beside its sentence.
struct Trouble(i32, String, Value);

impl Trouble {
    fn new(code: i32, message: impl Into<String>) -> Trouble {
        Trouble(code, message.into(), Value::Null)
    }
}

impl From<Denied> for Trouble {
    fn from(denied: Denied) -> Trouble {
        let message = denied.sentence();
        match denied {
            Denied::Full { active, max, .. } => {
                Trouble(NO_ROOM, message, json!({"active_sessions": active, "max_sessions": max}))
            }
            _ => Trouble::new(NO_PARAMS, message),
        }
    }
}

/// Who asks.
enum Caller<'a> {
    /// Over HTTP.
    Http(&'a Arc<Desk>),
    /// Over a socket with a session of its own.
    Socket(&'a Session),
}

/// The answer to a body.
pub(crate) async fn on_http(desk: &Arc<Desk>, body: &[u8]) -> Value {
    let value = match serde_json::from_slice(body) {
        Ok(value @ Value::Object(_)) => value,
        Ok(_) => return error(&Value::Null, Trouble::new(NO_JSON, "Parse error: no object")),
        Err(wrong) => {
            return error(&Value::Null, Trouble::new(NO_JSON, format!("Parse error: {wrong}")));
        }
    };
    reply(Caller::Http(desk), value).await
}

/// The answer to a frame.
pub(crate) async fn on_socket(session: &Session, text: &str) -> Answer {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => {
            let reply = reply(Caller::Socket(session), value).await;
            Answer { moved: true, ..Answer::say(reply.to_string()) }
        }
        Ok(_) => {
            let why = "a request is an object".to_string();
            let text = failure(&Value::Null, NO_ROOM, why, Fields::new());
            Answer { hang_up: true, ..Answer::say(text) }
        }
        Err(wrong) => {
            let why = format!("Parse error: {wrong}");
            Answer::say(failure(&Value::Null, NO_JSON, why, Fields::new()))
        }
    }
}

/// The answer to a request inside a message of another protocol.
pub(crate) async fn on_session(session: &Session, value: Value) -> Value {
    reply(Caller::Socket(session), value).await
}

/// An error as a text.
pub(crate) fn failure(id: &Value, code: i32, message: String, data: Fields) -> String {
    let data = if data.is_empty() { Value::Null } else { data.into() };
    error(id, Trouble(code, message, data)).to_string()
}

fn error(id: &Value, Trouble(code, message, data): Trouble) -> Value {
    let error = json!({"code": code, "message": message, "data": data});
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

async fn reply(caller: Caller<'_>, value: Value) -> Value {
    let request = match request(value) {
        Ok(request) => request,
        Err(items) => {
            let message = format!("Invalid request: {}", sentence(&items));
            let data = serde_json::to_value(&items).unwrap_or_default();
            return error(&Value::Null, Trouble(NO_REQUEST, message, data));
        }
    };
    let id = request.id.clone();
    match serve(caller, request).await {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(trouble) => error(&id, trouble),
    }
}

fn request(value: Value) -> Result<Request, Vec<Item>> {
    let Value::Object(mut given) = value else {
        return Err(vec![Item::no_object(&[], &value)]);
    };
    let mut wrong =
        nothing_more(&given, &["jsonrpc", "method", "params", "id"]).err().unwrap_or_default();
    let whole = Value::Object(given.clone());
    match given.get("jsonrpc") {
        Some(version) if version == "2.0" => {}
        Some(other) => {
            let item =
                Item::new("literal_error", &["jsonrpc"], "Input should be '2.0'", other.clone());
            wrong.push(item.with(json!({"expected": "'2.0'"})));
        }
        None => wrong.push(Item::missing(&["jsonrpc"], &whole)),
    }
    let method = match given.remove("method") {
        Some(Value::String(method)) => method,
        Some(other) => {
            let msg = "Input should be a valid string";
            wrong.push(Item::new("string_type", &["method"], msg, other));
            String::new()
        }
        None => {
            wrong.push(Item::missing(&["method"], &whole));
            String::new()
        }
    };
    let params = match given.remove("params") {
        None => Fields::new(),
        Some(Value::Object(params)) => params,
        Some(other) => {
            wrong.push(Item::no_object(&["params"], &other));
            Fields::new()
        }
    };
    let id = given.remove("id").unwrap_or_default();
    let whole_number = id.as_i64().is_some() || id.as_u64().is_some();
    if !(id.is_null() || id.is_string() || whole_number) {
        let msg = "Input should be a valid string or a valid integer";
        wrong.push(Item::new("string_type", &["id"], msg, id.clone()));
    }
    if wrong.is_empty() { Ok(Request { id, method, params }) } else { Err(wrong) }
}

async fn serve(caller: Caller<'_>, request: Request) -> Result<Value, Trouble> {
    let Request { method, params, .. } = request;
    match method.as_str() {
        "tools/list" => list(&caller, &params).await,
        "tools/call" => call(caller, params).await,
        "openenv/session/create" => match caller {
            Caller::Socket(session) => Ok(json!({"session_id": session.id})),
            Caller::Http(desk) => {
                let session = desk.table.open(Owner::Client)?;
                Ok(json!({"session_id": session.id}))
            }
        },
        "openenv/session/close" => close(&caller, &params),
        _ => {
            let shown: String = method.chars().take(100).collect();
            let more = match shown.as_str() {
                "initialize" | "ping" | "server/discover" => {
                    format!(" (the Model Context Protocol is served at {STANDARD})")
                }
                _ => String::new(),
            };
            Err(Trouble::new(NO_METHOD, format!("Method not found: {shown}{more}")))
        }
    }
}

fn wanted(params: &Fields) -> Result<Option<&str>, Trouble> {
    match params.get("session_id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id)),
        Some(_) => Err(Trouble::new(NO_PARAMS, "Invalid params - 'session_id' must be a string")),
    }
}

/// The session that a request means, where it means one.
async fn session(caller: &Caller<'_>, params: &Fields) -> Result<Option<Arc<Session>>, Trouble> {
    match (caller, wanted(params)?) {
        (Caller::Http(desk), Some(id)) => {
            desk.table.recall(id, Owner::Client).await?;
            Ok(Some(desk.table.take_up(id)?))
        }
        (Caller::Socket(own), Some(id)) if own.id.as_deref() != Some(id) => {
            Err(Denied::Unknown(id.to_string()).into())
        }
        _ => Ok(None),
    }
}

async fn list(caller: &Caller<'_>, params: &Fields) -> Result<Value, Trouble> {
    session(caller, params).await?;
    let catalogue = match caller {
        Caller::Http(desk) => desk.environment.catalogue(),
        Caller::Socket(session) => session.catalogue(),
    };
    let tools: Vec<_> = catalogue.tools.iter().map(lookup::long).collect();
    Ok(json!({"tools": tools}))
}

async fn call(caller: Caller<'_>, mut params: Fields) -> Result<Value, Trouble> {
    let meant = session(&caller, &params).await?;
    let name = match params.remove("name") {
        Some(Value::String(name)) => name,
        Some(_) => return Err(Trouble::new(NO_PARAMS, "Invalid params - 'name' must be a string")),
        None => return Err(Trouble::new(NO_PARAMS, "Missing 'name' in params")),
    };
    let arguments = match params.remove("arguments") {
        None | Some(Value::Null) => Fields::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => {
            let message = "Invalid params - 'arguments' must be an object";
            return Err(Trouble::new(NO_PARAMS, message));
        }
    };
    let called = match (&meant, caller) {
        (Some(session), _) => session.call(&name, arguments).await,
        (None, Caller::Socket(session)) => session.call(&name, arguments).await,
        (None, Caller::Http(desk)) => {
            // Nobody can come back to it: what it does is lost with the answer.
            let _permit = desk.throwaway.acquire().await;
            let session = desk.passing();
            let called = session.call(&name, arguments).await;
            session.end(false).await;
            called
        }
    };
    match called {
        Ok(reply) => Ok(lookup::result(&reply)),
        Err(Refusal::Invalid(items)) if lookup::is_unknown(&items) => {
            Err(Trouble::new(FAILED, sentence(&items)))
        }
        Err(Refusal::Invalid(items)) => {
            let message = format!("Error calling tool '{name}': {}", sentence(&items));
            let data = serde_json::to_value(&items).unwrap_or_default();
            Err(Trouble(FAILED, message, data))
        }
        Err(Refusal::Failed(message) | Refusal::NotNow(message)) => {
            Err(Trouble::new(FAILED, format!("Error calling tool '{name}': {message}")))
        }
    }
}

fn close(caller: &Caller<'_>, params: &Fields) -> Result<Value, Trouble> {
    let Some(id) = wanted(params)? else {
        return Err(Trouble::new(NO_PARAMS, "Invalid params - 'session_id' is required"));
    };
    match caller {
        Caller::Socket(own) if own.id.as_deref() == Some(id) => {
            let message = "A socket cannot close its own session: close the socket";
            Err(Trouble::new(NO_REQUEST, message))
        }
        Caller::Socket(_) => Err(Denied::Unknown(id.to_string()).into()),
        Caller::Http(desk) => Ok(match desk.table.close(id)? {
            Closed::Now => json!({"session_id": id, "closed": true}),
            Closed::Later => json!({"session_id": id, "closed": false, "closing": true}),
        }),
    }
}
