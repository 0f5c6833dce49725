//! Vectors of the Production Incident Response Simulator: statuses, rewards, ends, scores, counts
//! of the summary, components with their figures, alerts (severity and service), impact, and how
//! many log lines there are. Texts are not compared.

use super::number;
use crate::kit::{Answer, Site};
use crate::verdict::Played;
use serde_json::{Map, Value, json};

/// Counts of the summary that are compared.
const COUNTS: [&str; 8] = [
    "final_score",
    "correct_actions",
    "total_actions",
    "required_actions",
    "wrong_actions",
    "extra_steps",
    "per_action_bonus",
    "completion_bonus",
];

pub(crate) async fn play(site: &Site, vector: &Value) -> Played {
    let session = vector["id"].as_str().expect("an id");
    let mut played = Played::default();
    if let Some(before) = vector.get("state_before_reset") {
        let state = site.call("GET", "/state", session, None).await;
        played.same("state before reset", before["status"].as_u64(), Some(state.status.into()));
        played.answered("state before reset", &state);
    }
    if !vector["reset_request"].is_null() {
        let body = Some(&vector["reset_request"]["body"]).filter(|body| !body.is_null());
        let reset = site.call("POST", "/reset", session, body).await;
        let recorded = &vector["reset_response"];
        played.same("reset", recorded["status"].as_u64(), Some(reset.status.into()));
        played.answered("reset", &reset);
        compare(&mut played, "reset", &recorded["obs"], &reset.body);
        played.score = number(&reset.body, "/score_so_far");
    }
    if session == "is-metrics" {
        let metrics = site.call("GET", "/metrics", session, None).await;
        played.answered("metrics", &metrics);
        for name in vector["metrics"].as_object().expect("metrics").keys() {
            if metrics.body[name].is_null() {
                played.broken.push(format!("metrics lack {name}"));
            }
        }
    }
    for (at, step) in vector["steps"].as_array().into_iter().flatten().enumerate() {
        let what = format!("step {}", at + 1);
        let answer = site.call("POST", "/step", session, Some(&step["request"]["body"])).await;
        played.same(&what, step["status"].as_u64(), Some(answer.status.into()));
        played.answered(&what, &answer);
        if answer.status == 200 {
            stepped(&mut played, &what, step, &answer);
        }
    }
    if let Some(score) = vector["final_score"].as_f64() {
        played.number("final score", Some(score), played.score);
    }
    played
}

fn stepped(played: &mut Played, what: &str, step: &Value, answer: &Answer) {
    let body = &answer.body;
    let (reward, done) = (number(step, "/response_reward"), step["response_done"].as_bool());
    played.number(&format!("{what}, reward"), reward, number(body, "/reward"));
    played.same(&format!("{what}, done"), done, body["done"].as_bool());
    for count in COUNTS {
        let pointer = format!("/info/grader_summary/{count}");
        let (recorded, here) = (number(step, &pointer), number(body, &pointer));
        played.number(&format!("{what}, {count}"), recorded, here);
    }
    for flag in ["action_valid", "action_recognised"] {
        let (recorded, here) = (&step["info"][flag], &body["info"][flag]);
        played.same(&format!("{what}, {flag}"), recorded, here);
    }
    compare(played, what, &step["obs"], &body["observation"]);
    played.score = number(body, "/observation/score_so_far");
}

fn compare(played: &mut Played, what: &str, recorded: &Value, here: &Value) {
    for name in ["step_number", "max_steps", "done", "score_so_far"] {
        played.same(&format!("{what}, {name}"), &recorded[name], &here[name]);
    }
    let services: Map<_, _> = here["services"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| {
            let figures = ["status", "cpu", "memory", "error_rate", "latency_ms", "request_rate"];
            let name = one["name"].as_str().unwrap_or_default();
            (name.to_string(), figures.map(|figure| one[figure].clone()).to_vec().into())
        })
        .collect();
    played.state(&format!("{what}, services"), &recorded["services"], &services.into());
    let kinds = |alerts: &Value, fields: [Value; 2]| -> Vec<[Value; 2]> {
        let alerts = alerts.as_array().cloned().unwrap_or_default();
        let of = |alert: &Value, field: &Value| match field {
            Value::String(name) => alert[name].clone(),
            at => alert[at.as_u64().unwrap_or(0) as usize].clone(),
        };
        alerts.iter().map(|alert| [of(alert, &fields[0]), of(alert, &fields[1])]).collect()
    };
    let there = kinds(&recorded["alerts"], [json!(0), json!(1)]);
    let alerts = kinds(&here["alerts"], [json!("severity"), json!("service")]);
    played.state(&format!("{what}, alerts"), there, alerts);
    let impact = "business_impact";
    played.state(&format!("{what}, impact"), &recorded[impact], &here[impact]);
    let logs = here["logs"].as_array().map(Vec::len).unwrap_or_default();
    played.state(&format!("{what}, log lines"), recorded["logs_n"].as_u64(), Some(logs as u64));
}
