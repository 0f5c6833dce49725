//! One action as taken: a name of the catalogue and its arguments. Its JSON is canonical, so two
//! equal actions have the same bytes in every record.

use crate::catalogue;
use crate::error::ActionError;
use crate::json;
use crate::site::Site;
use crate::spec::{ActionSpec, Effect};
use model::{ParamDefault, ParamSpec, ParamValue, Params};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// The field that holds the action's name.
pub const NAME_FIELD: &str = "action";

/// An action of the catalogue with arguments that fit it: units converted, values equal to their
/// default left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    spec: &'static ActionSpec,
    args: Params,
}

impl Action {
    /// The action `name` with these arguments, as they were given.
    ///
    /// # Errors
    /// Names the unknown action or the argument that does not fit, and what is allowed.
    pub fn new(name: &str, args: &Params) -> Result<Action, ActionError> {
        let spec = catalogue::find(name).ok_or_else(|| unknown(name))?;
        let mut given = args.clone();
        given.0.retain(|key, value| !blank(spec, key, value));
        let mut args = given.check(spec.args).map_err(|e| ActionError::from(e).of(name))?;
        args.0.retain(|key, value| !spec.args.iter().any(|arg| is_default(arg, key, value)));
        Ok(Action { spec, args })
    }

    /// The action in a JSON object.
    ///
    /// # Errors
    /// Names the field that is wrong and what is allowed.
    pub fn from_json(value: &serde_json::Value) -> Result<Action, ActionError> {
        let Some(fields) = value.as_object() else {
            return Err(ActionError::whole("an action is a JSON object with the field `action`"));
        };
        let mut name = None;
        let mut args = Params::default();
        for (key, value) in fields {
            if key == NAME_FIELD {
                name = value.as_str();
                continue;
            }
            let value = match value {
                serde_json::Value::Bool(b) => ParamValue::Flag(*b),
                serde_json::Value::Number(n) => ParamValue::Number(n.as_f64().unwrap_or(f64::NAN)),
                serde_json::Value::String(text) => ParamValue::Text(text.clone()),
                serde_json::Value::Null => continue,
                _ => {
                    let message = "is a list or an object; expected a flag, a number or a text";
                    return Err(ActionError::field(key, message).of(name.unwrap_or_default()));
                }
            };
            args.0.insert(key.clone(), value);
        }
        let Some(name) = name else {
            let names: Vec<_> = catalogue::all().iter().map(|spec| spec.name).collect();
            let message = format!("is missing or no text; expected one of {}", names.join(", "));
            return Err(ActionError::field(NAME_FIELD, message));
        };
        Action::new(name, &args)
    }

    /// The action in a JSON text.
    ///
    /// # Errors
    /// Where it is no JSON, or as [`Action::from_json`].
    pub fn parse(text: &str) -> Result<Action, ActionError> {
        let value = serde_json::from_str(text)
            .map_err(|error| ActionError::whole(format!("is not JSON: {error}")))?;
        Action::from_json(&value)
    }

    /// Its entry in the catalogue.
    pub fn spec(&self) -> &'static ActionSpec {
        self.spec
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.spec.name
    }

    /// Its arguments, those equal to their default left out.
    pub fn args(&self) -> &Params {
        &self.args
    }

    /// Its arguments with all defaults.
    pub fn complete(&self) -> Params {
        self.args.check(self.spec.args).unwrap_or_else(|_| self.args.clone())
    }

    /// How long it takes on the agent's clock, seconds.
    pub fn duration_s(&self) -> u32 {
        self.spec.duration_s(&self.args)
    }

    /// What it becomes here.
    ///
    /// # Errors
    /// Names the field that does not fit the topology, and what is allowed.
    pub fn effect(&self, site: &Site<'_>) -> Result<Effect, ActionError> {
        (self.spec.effect)(&self.complete(), site).map_err(|error| error.of(self.spec.name))
    }

    /// As a JSON object.
    pub fn to_json(&self) -> serde_json::Value {
        let mut fields = serde_json::Map::new();
        fields.insert(NAME_FIELD.into(), self.spec.name.into());
        for (key, value) in &self.args.0 {
            let value = match value {
                ParamValue::Flag(b) => serde_json::Value::from(*b),
                ParamValue::Number(n) => json::number(*n),
                ParamValue::Text(text) => serde_json::Value::from(text.as_str()),
            };
            fields.insert(key.clone(), value);
        }
        serde_json::Value::Object(fields)
    }
}

/// The canonical JSON.
impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&json::canonical(&self.to_json()))
    }
}

fn unknown(name: &str) -> ActionError {
    let names: Vec<_> = catalogue::all().iter().map(|spec| spec.name).collect();
    ActionError::field(NAME_FIELD, crate::near::suggestion("action", name, &names))
}

/// An empty text given for an argument whose default is the empty text.
fn blank(spec: &ActionSpec, key: &str, value: &ParamValue) -> bool {
    let may = |arg: &ParamSpec| {
        arg.name == key
            && matches!(arg.default, Some(ParamDefault::Text("") | ParamDefault::Absent))
    };
    matches!(value, ParamValue::Text(text) if text.is_empty()) && spec.args.iter().any(may)
}

fn is_default(arg: &ParamSpec, key: &str, value: &ParamValue) -> bool {
    arg.name == key
        && match (arg.default, value) {
            (Some(ParamDefault::Flag(a)), ParamValue::Flag(b)) => a == *b,
            (Some(ParamDefault::Number(a)), ParamValue::Number(b)) => a == *b,
            (Some(ParamDefault::Text(a)), ParamValue::Text(b)) => a == b,
            _ => false,
        }
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            return self.to_json().serialize(to);
        }
        let mut map = to.serialize_map(Some(self.args.0.len() + 1))?;
        map.serialize_entry(NAME_FIELD, &ParamValue::from(self.spec.name))?;
        for (key, value) in &self.args.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut fields = BTreeMap::<String, ParamValue>::deserialize(from)?;
        let Some(ParamValue::Text(name)) = fields.remove(NAME_FIELD) else {
            return Err(serde::de::Error::missing_field(NAME_FIELD));
        };
        Action::new(&name, &Params(fields)).map_err(serde::de::Error::custom)
    }
}
