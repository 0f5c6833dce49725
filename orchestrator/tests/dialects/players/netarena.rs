//! Vectors of NetArena: statuses, rewards, ends, step numbers, exit codes and the whole state.
//! Texts are not compared.

use super::number;
use crate::kit::{Answer, Site};
use crate::verdict::Played;
use serde_json::Value;

/// Sends a recorded request.
async fn again(site: &Site, session: &str, request: &Value) -> Answer {
    let mut path = request["path"].as_str().expect("a path").to_string();
    for (key, value) in request["query"].as_object().into_iter().flatten() {
        path += &format!("?{key}={}", value.as_str().expect("a text"));
    }
    let mut body = request["body"].clone();
    if body["command"] == "<1001 chars>" {
        body["command"] = "x".repeat(1001).into();
    }
    let method = request["method"].as_str().expect("a method");
    site.call(method, &path, session, Some(&body).filter(|body| !body.is_null())).await
}

pub(crate) async fn play(site: &Site, vector: &Value) -> Played {
    let id = vector["id"].as_str().expect("an id");
    let mut played = Played::default();
    if !vector["reset_request"].is_null() {
        let reset = again(site, id, &vector["reset_request"]).await;
        let status = vector["reset_response"]["status"].as_u64();
        played.same("reset", status, Some(reset.status.into()));
        played.answered("reset", &reset);
        played.same("reset, stdout", status == Some(200), reset.body["stdout"].is_string());
    }
    let mut sum = 0.0;
    for (at, recorded) in vector["steps"].as_array().into_iter().flatten().enumerate() {
        let what = format!("step {}", at + 1);
        let answer = again(site, id, &recorded["request"]).await;
        played.same(&what, recorded["status"].as_u64(), Some(answer.status.into()));
        played.answered(&what, &answer);
        sum += number(&answer.body, "/reward/value").unwrap_or(0.0);
        if answer.status == 200 && recorded["obs"].is_object() {
            stepped(&mut played, &what, recorded, &answer.body);
            states(&mut played, &what, site, id, recorded).await;
        } else if let Some(error) = recorded["error"].as_str() {
            let error: Value = serde_json::from_str(error).expect("JSON");
            played.same(&format!("{what}, items"), items(&error), items(&answer.body));
        }
    }
    played.score = Some(sum);
    played.number("sum of rewards", number(vector, "/reward_sum"), played.score);
    played
}

fn stepped(played: &mut Played, what: &str, recorded: &Value, here: &Value) {
    let reward = (number(recorded, "/response_reward"), number(here, "/reward/value"));
    played.number(&format!("{what}, reward"), reward.0, reward.1);
    played.same(&format!("{what}, done"), &recorded["response_done"], &here["done"]);
    let (obs, seen) = (&recorded["obs"], &here["observation"]);
    for name in ["step_number", "done"] {
        played.same(&format!("{what}, {name}"), &obs[name], &seen[name]);
    }
    let codes = (obs["exit_code"].as_i64(), seen["exit_code"].as_i64());
    played.same(&format!("{what}, exit code"), codes.0, codes.1);
}

async fn states(played: &mut Played, what: &str, site: &Site, session: &str, recorded: &Value) {
    let task = recorded["request"]["query"]["task_id"].as_str().expect("a task");
    let state = site.call("GET", &format!("/state?task_id={task}"), session, None).await;
    for (key, value) in recorded["state"].as_object().into_iter().flatten() {
        played.state(&format!("{what}, {key}"), value, &state.body[key]);
    }
}

/// Errors of the same shape: a text, or items of the same kinds at the same places.
fn items(error: &Value) -> Vec<String> {
    match &error["detail"] {
        Value::Array(items) => {
            items.iter().map(|item| format!("{}{}", item["type"], item["loc"])).collect()
        }
        text => vec![text.is_string().to_string()],
    }
}
