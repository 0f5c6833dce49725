//! How answers are written.

use crate::environment::{Fields, Refusal};
use crate::item::{Item, sentence};
use crate::play::Reply;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[derive(Serialize)]
struct Body<'a> {
    observation: &'a RawValue,
    reward: Option<f64>,
    done: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Value>,
}

#[derive(Serialize)]
struct Frame<'a> {
    r#type: &'static str,
    data: Body<'a>,
}

/// The answer to a reset or a step on a socket: metadata once more at the top where there is some.
pub(crate) fn frame(reply: &Reply) -> String {
    let observation = reply.seen.with_metadata(&reply.metadata);
    let metadata = Value::Object(reply.metadata.clone());
    let metadata = (!reply.metadata.is_empty()).then_some(&metadata);
    let Reply { reward, done, .. } = *reply;
    let data = Body { observation: &observation, reward, done, metadata };
    text(&Frame { r#type: "observation", data })
}

/// The same as the body of an HTTP answer: metadata always at the top, perhaps null.
pub(crate) fn body(reply: &Reply) -> String {
    let observation = reply.seen.with_metadata(&reply.metadata);
    let metadata = match reply.metadata.is_empty() {
        true => Value::Null,
        false => Value::Object(reply.metadata.clone()),
    };
    let Reply { reward, done, .. } = *reply;
    text(&Body { observation: &observation, reward, done, metadata: Some(&metadata) })
}

/// The same as a value, for tools.
pub(crate) fn value(reply: &Reply) -> Value {
    let mut observation = reply.seen.value();
    observation["metadata"] = reply.metadata.clone().into();
    json!({"observation": observation, "reward": reply.reward, "done": reply.done})
}

/// A frame of this type.
pub(crate) fn typed(kind: &str, data: &Value) -> String {
    json!({"type": kind, "data": data}).to_string()
}

/// A frame that says what is wrong.
pub(crate) fn error(code: &str, message: impl Into<String>, more: Fields) -> String {
    let mut data = Fields::new();
    data.insert("message".into(), message.into().into());
    data.insert("code".into(), code.into());
    data.extend(more);
    typed("error", &data.into())
}

/// A frame on a message that does not fit. Clients show the sentence only, so all is in it.
pub(crate) fn invalid(items: &[Item]) -> String {
    let errors = serde_json::to_value(items).unwrap_or_default();
    let message = format!("Invalid message: {}", sentence(items));
    error("VALIDATION_ERROR", message, [("errors".to_string(), errors)].into_iter().collect())
}

/// A frame on what was refused.
pub(crate) fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Invalid(items) => invalid(items),
        Refusal::Failed(message) => error("EXECUTION_ERROR", message, Fields::new()),
    }
}

/// Nothing that is written here can fail to be: strings, numbers, and JSON that was read before.
fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value)
        .unwrap_or_else(|error| json!({"error": error.to_string()}).to_string())
}
