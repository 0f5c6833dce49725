//! Sentinel-SRE over a WebSocket: OpenEnv's messages, one answer each, in order.

use super::http::{action, rpc, state_of, take};
use super::round::Round;
use super::tasks::Wish;
use super::{Session, Sessions};
use crate::stage::{Caller, Room, Stage, Trouble, reply};
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::{IntoResponse, Response};
use openenv::item::sentence;
use openenv::{Fields, Item};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Mutex;

type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

/// Largest message of a client, bytes.
const MESSAGE_MAX: usize = 1 << 20;

/// What a message is answered with; `None`: the client wants to leave.
type Answer = Option<Value>;

/// Why a message came to nothing: a code and a sentence.
struct Fault(&'static str, String, Vec<Item>);

impl From<Trouble> for Fault {
    fn from(trouble: Trouble) -> Fault {
        Fault("EXECUTION_ERROR", trouble.to_string(), Vec::new())
    }
}

impl From<Vec<Item>> for Fault {
    fn from(items: Vec<Item>) -> Fault {
        let sentence = format!("Invalid message: {}", sentence(&items));
        Fault("VALIDATION_ERROR", sentence, items)
    }
}

impl Fault {
    fn value(self) -> Value {
        let Fault(code, message, items) = self;
        let mut data = json!({"message": message, "code": code});
        if !items.is_empty() {
            data["errors"] = json!(items);
        }
        json!({"type": "error", "data": data})
    }
}

/// `GET /ws`.
pub(super) async fn talk(
    State(rooms): State<Sessions>,
    caller: Caller,
    upgrade: Upgrade,
) -> Response {
    let Ok(upgrade) = upgrade else { return reply::not_found().await.into_response() };
    let upgrade = upgrade.max_message_size(MESSAGE_MAX).max_frame_size(MESSAGE_MAX);
    upgrade.on_upgrade(move |socket| async move {
        match rooms.socket(&caller) {
            Ok((room, name)) => {
                converse(socket, rooms.stage(), &room).await;
                if let Some(name) = name {
                    rooms.close(&name);
                }
            }
            Err(full) => refuse(socket, full).await,
        }
    })
}

/// `GET /mcp`.
pub(super) async fn mcp(upgrade: Upgrade) -> Response {
    let Ok(upgrade) = upgrade else { return reply::not_allowed().await.into_response() };
    let upgrade = upgrade.max_message_size(MESSAGE_MAX).max_frame_size(MESSAGE_MAX);
    upgrade.on_upgrade(|mut socket| async move {
        while let Some(Ok(message)) = socket.recv().await {
            let Message::Text(text) = message else { continue };
            if socket.send(Message::text(rpc(&text).to_string())).await.is_err() {
                return;
            }
        }
    })
}

async fn refuse(mut socket: WebSocket, full: Trouble) {
    let fault = Fault("CAPACITY_REACHED", full.to_string(), Vec::new());
    let _ = socket.send(Message::text(fault.value().to_string())).await;
    let _ = socket.send(Message::Close(None)).await;
}

async fn converse(mut socket: WebSocket, stage: &Arc<Stage>, room: &Room<Session>) {
    while let Some(Ok(message)) = socket.recv().await {
        let text = match message {
            Message::Text(text) => text.to_string(),
            Message::Binary(_) => {
                let why = "a binary frame: messages are JSON in text frames";
                let fault = Fault("SESSION_ERROR", why.into(), Vec::new());
                let _ = socket.send(Message::text(fault.value().to_string())).await;
                break;
            }
            Message::Close(_) => return,
            _ => continue,
        };
        let (here, room) = (stage.clone(), room.clone());
        // To its end, whether or not the client is still there.
        let answered = stage.compute(async move { answer(&here, &room, &text).await }).await;
        let answered = answered.unwrap_or_else(|| {
            let why = "a defect of the simulator ended the request";
            Some(Fault("EXECUTION_ERROR", why.into(), Vec::new()).value())
        });
        let Some(value) = answered else { break };
        if socket.send(Message::text(value.to_string())).await.is_err() {
            return;
        }
    }
    let _ = socket.send(Message::Close(None)).await;
}

async fn answer(stage: &Arc<Stage>, room: &Mutex<Session>, text: &str) -> Answer {
    match understood(stage, room, text).await {
        Ok(answer) => answer,
        Err(fault) => Some(fault.value()),
    }
}

async fn understood(
    stage: &Arc<Stage>,
    room: &Mutex<Session>,
    text: &str,
) -> Result<Answer, Fault> {
    let message: Value = serde_json::from_str(text)
        .map_err(|error| Fault("INVALID_JSON", format!("Invalid JSON: {error}"), Vec::new()))?;
    let Value::Object(message) = message else {
        return Err(vec![Item::no_object(&[], &message)].into());
    };
    let kind = message.get("type").and_then(Value::as_str).unwrap_or_default().to_string();
    if !["reset", "step", "state", "close"].contains(&kind.as_str()) {
        let shown: String = kind.chars().take(100).collect();
        return Err(Fault("UNKNOWN_TYPE", format!("Unknown message type: {shown}"), Vec::new()));
    }
    let data = data(message, &kind)?;
    let mut session = room.lock().await;
    match kind.as_str() {
        "reset" => reset(stage, &mut session, &data).await.map(Some),
        "step" => {
            let (command, target) = action(data)?;
            let turn = take(&mut session, &command, &target).await?;
            Ok(Some(json!({"type": "observation", "data": turn.value()})))
        }
        "state" => Ok(Some(json!({"type": "state", "data": state_of(&session)}))),
        _ => Ok(None),
    }
}

async fn reset(
    stage: &Arc<Stage>,
    session: &mut Session,
    data: &Fields,
) -> Result<Value, Fault> {
    let wish = Wish::read(data).map_err(|item| {
        // What is no number fails where the original computes with it.
        let code = if item.loc == ["seed".into()] { "EXECUTION_ERROR" } else { "VALIDATION_ERROR" };
        Fault(code, sentence(std::slice::from_ref(&*item)), vec![*item])
    })?;
    let round = Round::begin(stage, &wish, &mut session.turn).await?;
    let turn = round.first();
    session.round = Some(round);
    Ok(json!({"type": "observation", "data": turn.value()}))
}

/// The data of a message: an object where the kind has one, and no other fields.
fn data(mut message: Fields, kind: &str) -> Result<Fields, Vec<Item>> {
    let data = message.remove("data");
    let extra: Vec<_> = message
        .iter()
        .filter(|(name, _)| *name != "type")
        .map(|(name, value)| Item::extra(&[name], value))
        .collect();
    if !extra.is_empty() {
        return Err(extra);
    }
    match (data, kind) {
        (Some(Value::Object(fields)), _) => Ok(fields),
        (Some(other), _) => Err(vec![Item::no_object(&["data"], &other)]),
        (None, "step") => Err(vec![Item::missing(&["data"], &message.into())]),
        (None, _) => Ok(Fields::new()),
    }
}
