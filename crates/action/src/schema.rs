//! JSON Schemas, derived from the lists of parameters and from nothing else.

use crate::action::NAME_FIELD;
use crate::catalogue;
use crate::json::number;
use crate::spec::ActionSpec;
use model::{ParamDefault, ParamKind, ParamSpec, Topology};
use serde_json::{Map, Value, json};

/// The schema of one action. With a topology, names of components and classes are listed.
pub fn action(spec: &ActionSpec, topology: Option<&Topology>) -> Value {
    let mut schema = object(spec.args, topology);
    schema["title"] = spec.name.into();
    schema["description"] = spec.doc.into();
    schema["properties"][NAME_FIELD] = json!({"const": spec.name});
    let mut required = vec![Value::from(NAME_FIELD)];
    required.extend(schema["required"].as_array().cloned().unwrap_or_default());
    schema["required"] = required.into();
    schema
}

/// The schema of any action.
pub fn any_action(topology: Option<&Topology>) -> Value {
    let each: Vec<_> = catalogue::all().iter().map(|spec| action(spec, topology)).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "action",
        "oneOf": each,
    })
}

/// The schema of an object with these parameters.
pub fn object(params: &[ParamSpec], topology: Option<&Topology>) -> Value {
    let properties: Map<_, _> =
        params.iter().map(|spec| (spec.name.to_string(), param(spec, topology))).collect();
    let required: Vec<_> =
        params.iter().filter(|spec| spec.default.is_none()).map(|spec| spec.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The schema of one parameter.
pub fn param(spec: &ParamSpec, topology: Option<&Topology>) -> Value {
    let mut schema = kind(&spec.kind);
    if let Some(topology) = topology {
        let empty_too = matches!(spec.default, Some(ParamDefault::Text("")));
        list_names(&mut schema, &spec.kind, topology, empty_too);
    }
    schema["description"] = spec.doc.into();
    match spec.default {
        Some(ParamDefault::Flag(b)) => schema["default"] = b.into(),
        Some(ParamDefault::Number(n)) => schema["default"] = number(n),
        Some(ParamDefault::Text(text)) => schema["default"] = text.into(),
        Some(ParamDefault::Absent) | None => {}
    }
    schema
}

fn kind(kind: &ParamKind) -> Value {
    let with_unit = |min: f64, max: f64, units: &str| {
        json!({"anyOf": [
            {"type": "number", "minimum": number(min), "maximum": number(max)},
            {"type": "string", "pattern": format!("^ *[0-9.eE+]+ *({units})$")},
        ]})
    };
    match kind {
        ParamKind::Flag => json!({"type": "boolean"}),
        ParamKind::Duration { min, max } => with_unit(*min, *max, "us|ms|s|m|h"),
        ParamKind::Bytes { min, max } => with_unit(*min, *max, "B|KiB|MiB|GiB|TiB"),
        ParamKind::Number { min, max } => {
            json!({"type": "number", "minimum": number(*min), "maximum": number(*max)})
        }
        ParamKind::Count { min, max } => {
            json!({"type": "integer", "minimum": min, "maximum": max})
        }
        ParamKind::Ratio => with_unit(0.0, 1.0, "%"),
        ParamKind::Choice(words) => json!({"type": "string", "enum": words}),
        ParamKind::Text | ParamKind::Class | ParamKind::Component => {
            json!({"type": "string", "maxLength": 200})
        }
        ParamKind::Content => json!({"type": "string", "maxLength": model::params::CONTENT_MAX}),
    }
}

fn list_names(schema: &mut Value, kind: &ParamKind, topology: &Topology, empty_too: bool) {
    let mut names: Vec<&str> = match kind {
        ParamKind::Component => topology.instances.iter().map(|i| i.name.as_str()).collect(),
        ParamKind::Class => {
            topology.classes.iter().flat_map(|c| [c.name.as_str(), c.route.as_str()]).collect()
        }
        _ => return,
    };
    names.sort_unstable();
    names.dedup();
    if empty_too {
        names.insert(0, "");
    }
    *schema = json!({"type": "string", "enum": names});
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_of_an_action_follows_from_its_arguments() {
        let spec = catalogue::find("scale").unwrap();
        let schema = action(spec, None);
        assert_eq!(schema["required"], json!(["action", "component", "replicas"]));
        assert_eq!(schema["properties"]["action"], json!({"const": "scale"}));
        assert_eq!(schema["properties"]["replicas"]["maximum"], json!(64));
        assert_eq!(schema["properties"]["group"]["default"], json!(""));
        let any = any_action(None);
        assert_eq!(any["oneOf"].as_array().unwrap().len(), catalogue::all().len());
    }
}
