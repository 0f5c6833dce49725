//! Between the messages of the control port and what they mean.

use super::aim::edge_name;
use episode::{Grade, MICRO};
use model::{Inspection, LeverPull, ParamSpec, ParamValue, Params, Topology};
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value as Wire};
use proto::orchestrator::v1 as pb;
use serde_json::{Map, Number, Value};

/// Any JSON as it travels.
fn wire(value: Value) -> Wire {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(flag) => Kind::BoolValue(flag),
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Value::String(text) => Kind::StringValue(text),
        Value::Array(values) => {
            Kind::ListValue(ListValue { values: values.into_iter().map(wire).collect() })
        }
        Value::Object(fields) => Kind::StructValue(structure(fields)),
    };
    Wire { kind: Some(kind) }
}

fn structure(fields: Map<String, Value>) -> Struct {
    Struct { fields: fields.into_iter().map(|(name, value)| (name, wire(value))).collect() }
}

/// Whatever is an object in JSON; nothing else has fields.
pub(crate) fn to_struct(value: &impl serde::Serialize) -> Option<Struct> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => Some(structure(fields)),
        _ => None,
    }
}

fn json(value: Wire) -> Value {
    match value.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(flag)) => Value::Bool(flag),
        // What was whole before it travelled is whole again.
        Some(Kind::NumberValue(number))
            if number.fract() == 0.0 && number.abs() < 2f64.powi(53) =>
        {
            Value::from(number as i64)
        }
        Some(Kind::NumberValue(number)) => {
            Number::from_f64(number).map_or(Value::Null, Value::Number)
        }
        Some(Kind::StringValue(text)) => Value::String(text),
        Some(Kind::ListValue(list)) => Value::Array(list.values.into_iter().map(json).collect()),
        Some(Kind::StructValue(fields)) => Value::Object(object(fields)),
    }
}

/// The object that a structure stands for.
pub(crate) fn object(fields: Struct) -> Map<String, Value> {
    fields.fields.into_iter().map(|(name, value)| (name, json(value))).collect()
}

/// Parameters as given.
///
/// # Errors
/// Names the one that is neither a switch, a number nor a text.
pub(crate) fn params(given: Option<Struct>) -> Result<Params, String> {
    let mut params = Params::default();
    for (name, value) in given.map(|given| given.fields).unwrap_or_default() {
        let value = match value.kind {
            Some(Kind::BoolValue(flag)) => ParamValue::Flag(flag),
            Some(Kind::NumberValue(number)) => ParamValue::Number(number),
            Some(Kind::StringValue(text)) => ParamValue::Text(text),
            _ => return Err(format!("`{name}`: expected true or false, a number or a text")),
        };
        params.0.insert(name, value);
    }
    Ok(params)
}

pub(crate) fn pull(pull: &LeverPull, topology: &Topology) -> pb::Pull {
    pb::Pull {
        id: pull.id,
        component: topology.instances[pull.target.at()].name.clone(),
        edge: pull.edge.map(|edge| edge_name(topology, edge)).unwrap_or_default(),
        lever: pull.lever.clone(),
        parameters: to_struct(&pull.args),
    }
}

pub(crate) fn component(of: &Inspection, topology: &Topology) -> pb::Component {
    let pending =
        |(order, seconds): &(String, i64)| pb::Pending { order: order.clone(), seconds: *seconds };
    pb::Component {
        name: of.name.clone(),
        kind: of.kind.clone(),
        levers: of.levers.iter().map(|one| pull(one, topology)).collect(),
        pending: of.pending.iter().map(pending).collect(),
        facts: of.facts.iter().map(|(name, value)| (name.clone(), *value)).collect(),
    }
}

pub(crate) fn parameters(specs: &[ParamSpec]) -> Vec<pb::Parameter> {
    let parameter = |spec: &ParamSpec| pb::Parameter {
        name: spec.name.into(),
        accepts: spec.kind.describe(),
        description: spec.doc.into(),
        required: spec.default.is_none(),
    };
    specs.iter().map(parameter).collect()
}

/// What an episode comes to. `impact`: so far, micro-user-minutes.
pub(crate) fn verdict(
    episode: String,
    over: bool,
    tick: i64,
    impact: i64,
    grade: &Grade,
) -> pb::Verdict {
    let term = |term: &episode::Term| pb::Term {
        name: term.name.clone(),
        value: term.value,
        reason: term.reason.clone(),
    };
    pb::Verdict {
        episode,
        over,
        tick,
        score: grade.score,
        terms: grade.terms.iter().map(term).collect(),
        impact_now: impact as f64 / MICRO,
        impact: grade.impact,
        impact_noop: grade.impact_noop,
        impact_reference: grade.impact_reference,
        stake: grade.stake,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_travels_and_comes_back() {
        let value = json!({"a": [1, 2.5, null, true, {"b": "c"}], "d": -3, "e": {}});
        assert_eq!(Value::Object(object(to_struct(&value).unwrap())), value);
        assert_eq!(to_struct(&json!([1])), None);
        let given = to_struct(&json!({"factor": 8, "class": "pay", "on": true}));
        let expected = Params::default().with("factor", 8.0).with("class", "pay");
        let mut params = params(given).unwrap();
        assert_eq!(params.0.remove("on"), Some(ParamValue::Flag(true)));
        assert_eq!(params, expected);
        let error = super::params(to_struct(&json!({"x": []}))).unwrap_err();
        assert!(error.starts_with("`x`: expected"), "{error}");
    }
}
