//! The JSON Schemas that `/schema` publishes: those of the environment, with what this protocol
//! adds to every action and observation.

use crate::environment::Catalogue;
use serde_json::{Value, json};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// All of them.
pub(crate) fn published(catalogue: &Catalogue) -> Value {
    let each = catalogue.actions.iter().map(|action| with_metadata(action, "May be anything."));
    let actions: Vec<_> = each.chain([list_tools(), call_tool()]).collect();
    let number = json!({"type": "number", "description": "What the step paid."});
    let seen = observation(&catalogue.observation, &number);
    let listed = json!({"tools": {"type": "array", "items": {"type": "object"}}});
    let listed = observation(&object(listed), &number);
    let called = json!({
        "tool_name": {"type": "string"},
        "result": {"type": ["object", "null"]},
        "error": {"type": ["object", "null"]},
    });
    let called = observation(&object(called), &number);
    let mut reset = observation(&catalogue.observation, &json!({"type": "null"}));
    reset["$schema"] = DRAFT.into();
    reset["title"] = "ResetObservation".into();
    json!({
        "action": {
            "$schema": DRAFT, "title": "Action", "type": "object", "oneOf": actions,
        },
        "observation": {
            "$schema": DRAFT, "title": "Observation", "type": "object",
            "anyOf": [seen, listed, called],
        },
        "state": state(),
        "reset_observation": reset,
    })
}

fn object(properties: Value) -> Value {
    let required: Vec<_> = properties.as_object().into_iter().flatten().map(|(k, _)| k).collect();
    json!({
        "type": "object", "required": required, "properties": properties,
        "additionalProperties": false,
    })
}

fn with_metadata(schema: &Value, description: &str) -> Value {
    let mut schema = schema.clone();
    schema["properties"]["metadata"] = json!({"type": "object", "description": description});
    schema
}

fn observation(seen: &Value, reward: &Value) -> Value {
    let mut schema =
        with_metadata(seen, "Remarks: why the episode ended, options that are ignored.");
    schema["properties"]["done"] =
        json!({"type": "boolean", "description": "The episode is over."});
    schema["properties"]["reward"] = reward.clone();
    if let Some(required) = schema["required"].as_array_mut() {
        required.extend(["done", "reward", "metadata"].map(Value::from));
    }
    schema["additionalProperties"] = false.into();
    schema
}

fn list_tools() -> Value {
    json!({
        "title": "ListToolsAction", "description": "Lists the tools; takes no time.",
        "type": "object", "required": ["type"], "additionalProperties": false,
        "properties": {"type": {"const": "list_tools"}, "metadata": {"type": "object"}},
    })
}

fn call_tool() -> Value {
    json!({
        "title": "CallToolAction", "description": "Calls a tool: the action of that name.",
        "type": "object", "required": ["tool_name"], "additionalProperties": false,
        "properties": {
            "type": {"const": "call_tool", "default": "call_tool"},
            "tool_name": {"type": "string"},
            "arguments": {"type": "object", "default": {}},
            "metadata": {"type": "object"},
        },
    })
}

fn state() -> Value {
    let text = |doc: &str| json!({"type": ["string", "null"], "description": doc});
    json!({
        "$schema": DRAFT, "title": "State", "type": "object", "additionalProperties": true,
        "required": ["episode_id", "step_count"],
        "properties": {
            "episode_id": text("The episode, as the client named it; else its record."),
            "step_count": {"type": "integer", "minimum": 0, "description": "Steps since the reset."},
            "session_id": text("The session; with it a broken connection can be gone on with."),
            "task": text("What is played."),
            "seed": {
                "type": ["integer", "null"], "minimum": 0,
                "description": "The seed, if the client sent one.",
            },
            "record": text("The record that the server keeps."),
            "done": {"type": "boolean", "description": "The episode is over."},
            "done_reason": text("Why."),
            "last": {
                "type": "object",
                "description": "After a resumption: the last answer, in case it was lost.",
            },
        },
    })
}

/// The schema of a reset's options.
pub(crate) fn reset(catalogue: &Catalogue) -> Value {
    json!({
        "title": "ResetRequest", "type": "object", "additionalProperties": true,
        "description": "Unknown options are ignored and named in the metadata of the answer; nearly \
                        known ones are refused.",
        "properties": {
            "task": {
                "anyOf": [{"type": "string", "enum": catalogue.tasks}, {"type": "null"}],
                "description": "What to play; default: chosen by the seed.",
            },
            "seed": {
                "anyOf": [
                    {"type": "integer", "minimum": 0, "maximum": crate::options::SEED_MAX},
                    {"type": "null"},
                ],
                "description": "Every seed is a world of its own; default: drawn.",
            },
            "episode_id": {
                "anyOf": [
                    {"type": "string", "maxLength": crate::options::NAME_MAX}, {"type": "null"},
                ],
                "description": "How the client calls the episode; the state echoes it.",
            },
        },
    })
}
