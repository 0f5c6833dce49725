//! How answers are written.

use crate::environment::{Fields, Refusal};
use crate::item::{Item, sentence};
use crate::play::Reply;
use serde_json::{Value, json};

/// The answer to a reset or a step on a socket: metadata once more at the top where there is some.
pub(crate) fn frame(reply: &Reply) -> String {
    let top = if reply.metadata.is_empty() { None } else { Some(metadata(reply)) };
    let mut text = String::from("{\"type\":\"observation\",\"data\":");
    write_step(&mut text, reply, top.as_deref());
    text.push('}');
    text
}

/// The same as the body of an HTTP answer: metadata always at the top, perhaps null.
pub(crate) fn body(reply: &Reply) -> String {
    let top = if reply.metadata.is_empty() { "null".to_string() } else { metadata(reply) };
    let mut text = String::new();
    write_step(&mut text, reply, Some(&top));
    text
}

fn metadata(reply: &Reply) -> String {
    Value::Object(reply.metadata.clone()).to_string()
}

/// What is seen is text already and goes out as it is: it is most of every answer.
fn write_step(text: &mut String, reply: &Reply, top: Option<&str>) {
    text.push_str("{\"observation\":{\"metadata\":");
    match reply.metadata.is_empty() {
        true => text.push_str("{}"),
        false => text.push_str(&metadata(reply)),
    }
    let seen = &reply.seen.as_str()[1..];
    if seen != "}" {
        text.push(',');
    }
    text.push_str(seen);
    text.push_str(",\"reward\":");
    text.push_str(&Value::from(reply.reward).to_string());
    text.push_str(if reply.done { ",\"done\":true" } else { ",\"done\":false" });
    if let Some(top) = top {
        text.push_str(",\"metadata\":");
        text.push_str(top);
    }
    text.push('}');
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
        Refusal::Failed(message) | Refusal::NotNow(message) => {
            error("EXECUTION_ERROR", message, Fields::new())
        }
    }
}
