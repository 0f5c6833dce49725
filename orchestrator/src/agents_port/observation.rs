//! The observation as agents get it: that of the engine without `done`, which the protocol says
//! beside it.

use episode::Observation;
use episode::observe::{ActionResult, AlertView, ObjectiveView};
use openenv::Seen;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Serialize)]
struct View<'a> {
    time: &'a str,
    seconds: i64,
    step: u32,
    steps_left: u32,
    seconds_left: i64,
    alerts: &'a [AlertView],
    objectives: &'a [ObjectiveView],
    impact_estimate: f64,
    result: Option<&'a ActionResult>,
    done_reason: Option<&'a str>,
}

/// What is seen.
///
/// # Errors
/// Where it is no object in JSON.
pub fn seen(observation: &Observation) -> Result<Seen, String> {
    // No `..`: a new field is shown, or left out on purpose.
    let Observation {
        time,
        seconds,
        step,
        steps_left,
        seconds_left,
        alerts,
        objectives,
        impact_estimate,
        result,
        done: _,
        done_reason,
    } = observation;
    Seen::new(&View {
        time,
        seconds: *seconds,
        step: *step,
        steps_left: *steps_left,
        seconds_left: *seconds_left,
        alerts,
        objectives,
        impact_estimate: *impact_estimate,
        result: result.as_ref(),
        done_reason: done_reason.as_deref(),
    })
}

/// Its JSON Schema; a test holds it against real ones.
pub(super) fn schema() -> Value {
    let described = |kind: Value, doc: &str| json!({"type": kind, "description": doc});
    let text = |doc: &str| described("string".into(), doc);
    let whole = |doc: &str| described("integer".into(), doc);
    let number = |doc: &str| described("number".into(), doc);
    let flag = |doc: &str| described("boolean".into(), doc);
    let alert = object(json!({
        "name": text("Its name."),
        "severity": {"enum": ["page", "ticket"], "description": "A page wakes somebody."},
        "summary": text("What it says."),
        "since_seconds": whole("Seconds since its condition began to hold."),
        "firing": flag("It fires now; else it ended in the last five minutes."),
    }));
    let objective = object(json!({
        "name": text("Its name."),
        "objective": number("Share of requests that are to be good."),
        "good_ratio": number("Share that was, over the short window."),
        "burn_fast": number("Burn rate of the error budget over the short window."),
        "burn_slow": number("The same over the long window."),
    }));
    let mut result = object(json!({
        "action": text("The action."),
        "ok": flag("It was accepted; reads always are."),
        "message": text("One sentence."),
        "data": {"description": "What a read found."},
    }));
    result["type"] = json!(["object", "null"]);
    result["description"] = "What the last action came to; null before the first one.".into();
    object(json!({
        "time": text("Simulated time since the page."),
        "seconds": whole("The same in seconds."),
        "step": whole("Steps taken."),
        "steps_left": whole("Steps that are left."),
        "seconds_left": whole("Seconds that are left."),
        "alerts": {"type": "array", "items": alert, "description": "Alerts, as monitoring has them."},
        "objectives": {
            "type": "array", "items": objective, "description": "Objectives, as measured.",
        },
        "impact_estimate": number("User-minutes lost since the page, as monitoring counts them."),
        "result": result,
        "done_reason": {
            "enum": [null, "resolved", "horizon", "step_limit", "abandoned"],
            "description": "Why the episode is over.",
        },
    }))
}

fn object(properties: Value) -> Value {
    let required: Vec<_> = properties.as_object().into_iter().flatten().map(|(k, _)| k).collect();
    json!({
        "type": "object", "required": required, "properties": properties,
        "additionalProperties": false,
    })
}
