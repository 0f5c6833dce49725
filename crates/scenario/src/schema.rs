//! The JSON Schema for editors: the tables of the format, with the parameters of kinds, the
//! faults and the actions put in their places.

use crate::format::{COMPONENT, EVENT, SCENARIO, TOPOLOGY};
use crate::grammar::{Field, Free, Shape};
use action::schema::{any_action, object, param};
use machine::Kinds;
use model::{ParamKind, ParamSpec};
use serde_json::{Map, Value, json};

/// The schema of scenario files.
pub fn schema(kinds: &dyn Kinds) -> Value {
    document("A scenario", &SCENARIO, kinds)
}

/// The schema of topology files.
pub fn topology_schema(kinds: &dyn Kinds) -> Value {
    document("A topology", &TOPOLOGY, kinds)
}

fn document(title: &str, shape: &Shape, kinds: &dyn Kinds) -> Value {
    let mut schema = render(shape, kinds);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = title.into();
    schema["$defs"] = json!({
        "action": {"oneOf": any_action(None)["oneOf"]},
        "component": {"oneOf": components(kinds)},
        "event": event(kinds),
        "host": kinds.find("host").map_or(json!({"type": "object"}), |kind| {
            object(kind.params(), None)
        }),
    });
    schema
}

fn render(shape: &Shape, kinds: &dyn Kinds) -> Value {
    match shape {
        Shape::Scalar(kind) => scalar(kind),
        Shape::Prose => json!({"type": "string", "minLength": 1}),
        Shape::Rate => text_or_number("^ *[0-9.eE+]+ */ *[smh] *$"),
        Shape::Span => text_or_number("^ *[0-9.]+ *(ms|s|m|h)( *\\.\\. *[0-9.]+ *(ms|s|m|h))? *$"),
        Shape::Level => json!({"type": ["number", "string"]}),
        Shape::Or(word, other) => json!({"anyOf": [{"const": word}, render(other, kinds)]}),
        Shape::NameOr(other) => json!({"anyOf": [{"type": "string"}, render(other, kinds)]}),
        Shape::List(item) => json!({"type": "array", "items": render(item, kinds)}),
        Shape::Map(each) => {
            json!({"type": "object", "additionalProperties": render(each, kinds)})
        }
        Shape::Record(fields) if is_event(fields) => json!({"$ref": "#/$defs/event"}),
        Shape::Record(fields) => record(fields, kinds),
        Shape::Open(_) => json!({"$ref": "#/$defs/component"}),
        Shape::Params(specs) => all_optional(specs),
        Shape::Free(Free::Host) => json!({"$ref": "#/$defs/host"}),
        Shape::Free(Free::Action) => json!({"$ref": "#/$defs/action"}),
        Shape::Free(Free::With | Free::Override) => json!({"type": "object"}),
    }
}

fn is_event(fields: &[Field]) -> bool {
    fields.len() == EVENT.len() && fields.iter().zip(EVENT).all(|(a, b)| a.name == b.name)
}

fn scalar(kind: &ParamKind) -> Value {
    let mut schema = param(&ParamSpec::optional("", *kind, ""), None);
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("description");
    }
    schema
}

fn text_or_number(pattern: &str) -> Value {
    json!({"anyOf": [
        {"type": "number", "minimum": 0},
        {"type": "string", "pattern": pattern},
    ]})
}

fn all_optional(specs: &[ParamSpec]) -> Value {
    let mut schema = object(specs, None);
    schema["required"] = json!([]);
    schema
}

fn record(fields: &[Field], kinds: &dyn Kinds) -> Value {
    let properties: Map<_, _> = fields
        .iter()
        .map(|field| {
            let mut schema = render(&field.shape, kinds);
            schema["description"] = field.doc.into();
            (field.name.to_string(), schema)
        })
        .collect();
    let required: Vec<_> = fields.iter().filter(|f| f.required).map(|f| f.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// One schema per kind: the fields of any component and the kind's own parameters.
fn components(kinds: &dyn Kinds) -> Vec<Value> {
    let kinds_of_components = kinds.all().iter().filter(|kind| kind.name() != "host");
    kinds_of_components
        .map(|kind| {
            // A third party has nothing but its kind in common with what runs here.
            let fields = if kind.outside() { &COMPONENT[..1] } else { COMPONENT };
            let mut schema = record(fields, kinds);
            schema["title"] = kind.name().into();
            schema["description"] = kind.doc().into();
            schema["properties"]["kind"] = json!({"const": kind.name()});
            for spec in kind.params() {
                schema["properties"][spec.name] = param(spec, None);
            }
            schema
        })
        .collect()
}

/// An event; the fault's name decides which parameters it takes.
fn event(kinds: &dyn Kinds) -> Value {
    let mut schema = record(EVENT, kinds);
    let names: Vec<_> = fault::all().iter().map(|spec| spec.name).collect();
    schema["properties"]["fault"]["enum"] = json!(names);
    let each = fault::all().iter().map(|spec| {
        json!({
            "if": {"properties": {"fault": {"const": spec.name}}, "required": ["fault"]},
            "then": {"properties": {"with": object(spec.params, None)}},
        })
    });
    schema["allOf"] = each.collect();
    schema
}
