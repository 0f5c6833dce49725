//! What is wrong, in the protocol's words: which field, and what is allowed there.

use crate::sessions::SessionError;
use action::action::NAME_FIELD;
use action::{Action, ActionError, Site};
use openenv::{Fields, Item, Refusal};
use scenario::Scenario;
use serde_json::Value;

/// Of a session.
pub(super) fn of(error: SessionError) -> Refusal {
    match error {
        SessionError::Wrong(sentence) => {
            Refusal::Invalid(vec![Item::new("value_error", &[], sentence, Value::Null)])
        }
        SessionError::Unknown(_) => Refusal::Failed("the episode is gone: call reset".into()),
        other => Refusal::Failed(other.to_string()),
    }
}

/// Of a task that there is not.
pub(super) fn no_task(task: &str, known: &[String]) -> Refusal {
    let known: Vec<_> = known.iter().map(String::as_str).collect();
    let shown: String = task.chars().take(100).collect();
    let sentence = action::near::suggestion("task", &shown, &known);
    Refusal::Invalid(vec![Item::new("literal_error", &["task"], sentence, task.into())])
}

/// Of an action that does not fit, found out again field by field; `sentence` where nothing is
/// found.
pub(super) fn of_action(fields: &Fields, scenario: Option<&Scenario>, sentence: String) -> Refusal {
    let whole = Value::Object(fields.clone());
    let error = match (Action::from_json(&whole), scenario) {
        (Err(error), _) => Some(error),
        (Ok(action), Some(scenario)) => {
            let kinds = fleet::kinds();
            action.effect(&Site::new(&scenario.topology, &kinds)).err()
        }
        (Ok(_), None) => None,
    };
    let Some(ActionError { action: name, field, message }) = error else {
        return of(SessionError::Wrong(sentence));
    };
    let (given, loc) = (fields.get(&field), [field.as_str()]);
    let loc = if field.is_empty() { &[][..] } else { &loc[..] };
    let spec = action::find(&name);
    let known = spec.is_some_and(|spec| spec.args.iter().any(|arg| arg.name == field));
    let kind = match given {
        None if !field.is_empty() => "missing",
        Some(_) if field == NAME_FIELD => "literal_error",
        Some(_) if !known => "extra_forbidden",
        _ => "value_error",
    };
    let input = given.cloned().unwrap_or(whole);
    let message = if name.is_empty() { message } else { format!("{name}: {message}") };
    Refusal::Invalid(vec![Item::new(kind, loc, message, input)])
}
