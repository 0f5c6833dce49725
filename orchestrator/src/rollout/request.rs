//! Lines of a trainer and what they are answered with: OpenEnv's messages, with an id that pairs
//! them and the name of the episode that is meant.

use openenv::options::{NAME_MAX, Options};
use openenv::{Catalogue, End, Fields, Item, Refusal, Seen, item};
use serde_json::{Value, json};

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Pairs the answer with it.
    pub id: Value,
    /// The trainer's name for the episode.
    pub episode: String,
    /// What is to be done.
    pub deed: Deed,
}

/// What is to be done with an episode.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// Begin it; one of the same name is left.
    Reset(Options),
    /// Take a step.
    Step(Fields),
    /// Leave it.
    Close,
}

/// Why nothing was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Complaint {
    code: &'static str,
    message: String,
    errors: Vec<Item>,
}

impl Complaint {
    /// In one sentence.
    pub fn new(code: &'static str, message: impl Into<String>) -> Complaint {
        Complaint { code, message: message.into(), errors: Vec::new() }
    }

    fn invalid(errors: Vec<Item>) -> Complaint {
        let message = format!("Invalid message: {}", item::sentence(&errors));
        Complaint { code: "VALIDATION_ERROR", message, errors }
    }
}

impl From<Refusal> for Complaint {
    fn from(refusal: Refusal) -> Complaint {
        match refusal {
            Refusal::Invalid(items) => Complaint::invalid(items),
            Refusal::Failed(message) | Refusal::NotNow(message) => {
                Complaint::new("EXECUTION_ERROR", message)
            }
        }
    }
}

/// Reads a line; with a complaint comes the id, where there is one.
///
/// # Errors
/// All that is wrong with it.
pub fn read(line: &[u8]) -> Result<Request, (Value, Complaint)> {
    let given: Value = serde_json::from_slice(line).map_err(|error| {
        (Value::Null, Complaint::new("INVALID_JSON", format!("Invalid JSON: {error}")))
    })?;
    let Value::Object(mut given) = given else {
        let wrong = Complaint::invalid(vec![Item::no_object(&[], &given)]);
        return Err((Value::Null, wrong));
    };
    let whole = Value::Object(given.clone());
    let mut wrong = Vec::new();
    let id = match given.remove("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id,
        Some(other) => {
            let msg = "Input should be a string or a number";
            wrong.push(Item::new("string_type", &["id"], msg, other));
            Value::Null
        }
        None => {
            wrong.push(Item::missing(&["id"], &whole));
            Value::Null
        }
    };
    let episode = name(given.remove("episode"), &whole).unwrap_or_else(|item| {
        wrong.push(*item);
        String::new()
    });
    let (kind, data) = (given.remove("type"), given.remove("data"));
    wrong.extend(given.iter().map(|(name, value)| Item::extra(&[name], value)));
    let deed = match kind.as_ref().and_then(Value::as_str) {
        Some("reset") => reset(data),
        Some("step") => step(data, &whole),
        Some("close") => match data {
            None => Ok(Deed::Close),
            Some(data) => Err(vec![Item::extra(&["data"], &data)]),
        },
        _ => {
            let known = "expected one of reset, step, close";
            let shown = kind.map_or_else(|| "none".to_string(), |kind| kind.to_string());
            return Err((id, Complaint::new("UNKNOWN_TYPE", format!("type is {shown}; {known}"))));
        }
    };
    match deed {
        Ok(deed) if wrong.is_empty() => Ok(Request { id, episode, deed }),
        Ok(_) => Err((id, Complaint::invalid(wrong))),
        Err(items) => {
            wrong.extend(items);
            Err((id, Complaint::invalid(wrong)))
        }
    }
}

fn name(given: Option<Value>, whole: &Value) -> Result<String, Box<Item>> {
    let wrong = |input: Value| {
        let msg = format!("Input should be a string of 1 to {NAME_MAX} characters");
        Box::new(Item::new("string_type", &["episode"], msg, input))
    };
    match given {
        None => Err(Box::new(Item::missing(&["episode"], whole))),
        Some(Value::String(name)) if (1..=NAME_MAX).contains(&name.chars().count()) => Ok(name),
        Some(other) => Err(wrong(other)),
    }
}

fn reset(data: Option<Value>) -> Result<Deed, Vec<Item>> {
    let below = |items: Vec<Item>| items.into_iter().map(|item| item.below(&["data"])).collect();
    match data {
        None => Ok(Deed::Reset(Options::default())),
        Some(Value::Object(data)) => Options::read(&data).map(Deed::Reset).map_err(below),
        Some(other) => Err(vec![Item::no_object(&["data"], &other)]),
    }
}

/// The `metadata` of an action are allowed and mean nothing, as on other ways.
fn step(data: Option<Value>, whole: &Value) -> Result<Deed, Vec<Item>> {
    let mut action = match data {
        Some(Value::Object(action)) => action,
        Some(other) => return Err(vec![Item::no_object(&["data"], &other)]),
        None => return Err(vec![Item::missing(&["data"], whole)]),
    };
    match action.remove("metadata") {
        None | Some(Value::Object(_)) => Ok(Deed::Step(action)),
        Some(other) => Err(vec![Item::no_object(&["data", "metadata"], &other)]),
    }
}

/// The first line of a worker: what there is to play, and how.
pub fn hello(catalogue: &Catalogue, episodes_max: usize) -> String {
    let splits = catalogue.splits.iter().map(
        |split| json!({"name": split.name, "first_seed": split.first, "last_seed": split.last}),
    );
    json!({
        "protocol": 1, "version": catalogue.about.version, "max_episodes": episodes_max,
        "tasks": catalogue.tasks, "splits": splits.collect::<Vec<_>>(),
        "actions": catalogue.actions, "observation": catalogue.observation,
    })
    .to_string()
}

/// The answer to a reset or a step.
pub fn answer(
    id: &Value,
    episode: &str,
    seen: &Seen,
    reward: Option<f64>,
    metadata: &Fields,
) -> String {
    let (episode, reward) = (Value::from(episode), Value::from(reward));
    let (done, metadata) = (metadata.contains_key("done_reason"), json!(metadata));
    let seen = seen.as_str();
    format!(
        "{{\"id\":{id},\"episode\":{episode},\"observation\":{seen},\"reward\":{reward},\
         \"done\":{done},\"metadata\":{metadata}}}"
    )
}

/// Remarks on an end.
pub fn ended(end: &End) -> Fields {
    let remarks = json!({
        "done_reason": end.reason, "terminated": !end.truncated, "truncated": end.truncated,
    });
    match remarks {
        Value::Object(remarks) => remarks,
        _ => Fields::new(),
    }
}

/// The answer to a close. `was`: there was such an episode.
pub fn closed(id: &Value, episode: &str, was: bool) -> String {
    json!({"id": id, "episode": episode, "closed": was}).to_string()
}

/// The answer where nothing was done.
pub fn complaint(id: &Value, episode: Option<&str>, complaint: &Complaint) -> String {
    let Complaint { code, message, errors } = complaint;
    let mut answer = json!({"id": id, "error": {"code": code, "message": message}});
    if let Some(episode) = episode {
        answer["episode"] = episode.into();
    }
    if !errors.is_empty() {
        answer["error"]["errors"] = serde_json::to_value(errors).unwrap_or_default();
    }
    answer.to_string()
}
