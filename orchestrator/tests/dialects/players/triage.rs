//! Vectors of the incident triage environment: statuses of answers, rewards, ends, alerts, which
//! components are not healthy, counts, and the grade. Texts are not compared.

use super::number;
use crate::kit::{Answer, Site};
use crate::verdict::Played;
use serde_json::{Map, Value, json};

/// Counts of the state that are compared.
const COUNTS: [&str; 12] = [
    "step_count",
    "total_incidents",
    "resolved_incidents",
    "correct_diagnoses",
    "misdiagnosed",
    "correct_priorities",
    "correct_remediations",
    "failed_remediations",
    "time_elapsed",
    "actions_taken",
    "accumulated_reward",
    "score",
];
/// Words of the state that are compared.
const WORDS: [&str; 3] = ["task_name", "scenario_id", "done"];
/// Parts of an observation that are compared as they are.
const PARTS: [&str; 7] = [
    "incidents_resolved",
    "incidents_remaining",
    "time_elapsed",
    "current_step",
    "max_steps",
    "last_action_error",
    "logs",
];

pub(crate) async fn play(site: &Site, vector: &Value) -> Played {
    let session = vector["id"].as_str().expect("an id");
    let mut played = Played::default();
    if let Some(map) = vector["map"].as_object() {
        choices(site, session, map, &mut played).await;
        return played;
    }
    if vector.get("grade_before").is_some() {
        let grade = site.call("GET", "/grade", session, None).await;
        let score = number(&vector["grade_before"], "/score");
        played.number("grade before", score, number(&grade.body, "/score"));
        played.answered("grade before", &grade);
    }
    if let Some(recorded) = vector.get("reset_response") {
        let reset = send(site, "/reset", session, &vector["reset_request"]).await;
        compare(&mut played, "reset", recorded, &reset);
    }
    for (at, step) in vector["steps"].as_array().into_iter().flatten().enumerate() {
        let answer = send(site, "/step", session, &step["request"]).await;
        compare(&mut played, &format!("step {}", at + 1), step, &answer);
    }
    let state = site.call("GET", "/state", session, None).await;
    let grade = site.call("GET", "/grade", session, None).await;
    for name in COUNTS {
        let pointer = format!("/{name}");
        let of = |state: &Value, grade: &Value| number(state, &pointer).or(number(grade, &pointer));
        let (recorded, here) =
            (of(&vector["state"], &vector["grade"]), of(&state.body, &grade.body));
        played.number(name, recorded, here);
    }
    for name in WORDS {
        played.same(name, &vector["state"][name], &state.body[name]);
    }
    if let Some(id) = vector["state"].get("episode_id") {
        played.same("episode_id", id, &state.body["episode_id"]);
    }
    let breakdown = vector["grade"]["breakdown"].as_object().cloned().unwrap_or_default();
    for (name, recorded) in breakdown {
        played.same(&name, &recorded, &grade.body["breakdown"][&name]);
    }
    played.score = number(&grade.body, "/score");
    played
}

/// Sends what was recorded; a body that is no JSON object is recorded as text.
async fn send(site: &Site, path: &str, session: &str, request: &Value) -> Answer {
    let body = &request["body"];
    let text = match body.get("__raw").and_then(Value::as_str) {
        Some(raw) => raw.to_string(),
        None if body.is_null() => request["raw"].as_str().unwrap_or_default().to_string(),
        None => body.to_string(),
    };
    site.send("POST", path, session, text).await
}

fn compare(played: &mut Played, what: &str, recorded: &Value, answer: &Answer) {
    let body = &answer.body;
    played.same(what, recorded["status"].as_u64(), Some(answer.status.into()));
    played.answered(what, answer);
    if answer.status != 200 {
        return;
    }
    let reward = number(recorded, "/response_reward").or(number(recorded, "/reward"));
    played.number(&format!("{what}, reward"), reward, number(body, "/reward"));
    let done = recorded["response_done"].as_bool().or(recorded["done"].as_bool());
    played.same(&format!("{what}, done"), done, body["done"].as_bool());
    let (there, here) = (&recorded["obs"], &body["observation"]);
    for part in PARTS {
        played.same(&format!("{what}, {part}"), &there[part], &here[part]);
    }
    let alert = |one: &Value| {
        json!(["id", "severity", "service", "is_red_herring"].map(|name| one[name].clone()))
    };
    let alerts: Value = here["alerts"].as_array().into_iter().flatten().map(alert).collect();
    played.state(&format!("{what}, alerts"), &there["alerts"], &alerts);
    let statuses = here["system_status"].as_object().cloned().unwrap_or_default();
    let troubled: Map<_, _> = statuses
        .into_iter()
        .map(|(name, facts)| (name, facts["status"].clone()))
        .filter(|(_, status)| status != "healthy")
        .collect();
    played.state(&format!("{what}, statuses"), &there["status"], &troubled.into());
}

/// Which situation each seed means.
async fn choices(site: &Site, session: &str, map: &Map<String, Value>, played: &mut Played) {
    for (task, recorded) in map {
        for (seed, expected) in recorded.as_array().into_iter().flatten().enumerate() {
            let body = json!({"task_name": task, "seed": seed});
            let reset = site.call("POST", "/reset", session, Some(&body)).await;
            played.answered("reset", &reset);
            let state = site.call("GET", "/state", session, None).await;
            played.same(&format!("{task}, seed {seed}"), expected, &state.body["scenario_id"]);
        }
    }
}
