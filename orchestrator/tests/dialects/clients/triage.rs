//! The requests of the incident triage environment's inference program, and its log.

use super::{Model, rule, word};
use crate::kit::Site;
use serde_json::{Value, json};

const TASKS: [&str; 3] = ["single_incident", "multi_incident", "cascading_failure"];

/// The object in a reply, fenced or not; a look at a log where there is none.
fn decode(reply: Option<String>) -> Value {
    let object = reply.and_then(|reply| {
        let (from, to) = (reply.find('{')?, reply.rfind('}')?);
        serde_json::from_str::<Value>(reply.get(from..=to)?).ok()
    });
    object.unwrap_or_else(|| act("investigate", "database_primary", "aspect", "logs"))
}

fn act(kind: &str, target: &str, name: &str, value: &str) -> Value {
    json!({"action_type": kind, "target": target, "parameters": {name: value}})
}

fn prompt(seen: &Value, step: usize) -> String {
    let text = |one: &Value, name: &str| one[name].as_str().expect("a text").to_string();
    let alerts: Vec<_> = seen["alerts"]
        .as_array()
        .expect("alerts")
        .iter()
        .map(|one| {
            ["id", "severity", "service", "title", "message"].map(|n| text(one, n)).join(" ")
        })
        .collect();
    let troubled: Vec<_> = seen["system_status"]
        .as_object()
        .expect("statuses")
        .iter()
        .filter(|(_, facts)| facts["status"] != "healthy")
        .map(|(name, facts)| format!("{name}: {facts}"))
        .collect();
    let whole = |name: &str| seen[name].as_u64().expect("whole");
    format!(
        "STEP {step}/{}, {} min, {} over, {} open\n{}\n{}\n{}\n{}",
        whole("max_steps"),
        seen["time_elapsed"].as_f64().expect("minutes"),
        whole("incidents_resolved"),
        whole("incidents_remaining"),
        alerts.join("\n"),
        troubled.join("\n"),
        text(seen, "investigation_results"),
        seen["last_action_error"].as_str().unwrap_or("no error"),
    )
}

/// Plays all tasks; what the program would log.
async fn run(site: &Site, model: &Model) -> Vec<String> {
    assert_eq!(site.call("GET", "/health", "", None).await.status, 200);
    let mut log = Vec::new();
    for task in TASKS {
        log.push(format!("[START] task={task} env=incident_triage_env model=scripted"));
        let reset = site.call("POST", "/reset", "", Some(&json!({"task_name": task}))).await;
        assert_eq!(reset.status, 200);
        let (mut seen, mut rewards) = (reset.body["observation"].clone(), Vec::new());
        for number in 1..=seen["max_steps"].as_u64().expect("whole") as usize {
            let system = json!({"role": "system", "content": "You are on call."});
            let user = json!({"role": "user", "content": prompt(&seen, number)});
            let settings = json!({"temperature": 0.3, "max_tokens": 500, "stream": false});
            let action = decode(model.chat(&[system, user], settings).await);
            let step = site.call("POST", "/step", "", Some(&action)).await;
            assert_eq!(step.status, 200, "{}", step.body);
            let reward = step.body["reward"].as_f64().expect("a reward");
            let done = step.body["done"].as_bool().expect("a flag");
            seen = step.body["observation"].clone();
            rewards.push(format!("{reward:.2}"));
            let part = |name: &str| action[name].as_str().unwrap_or_default();
            log.push(format!(
                "[STEP] step={number} action={}({}) reward={reward:.2} done={} error={}",
                part("action_type"),
                part("target"),
                word(done),
                seen["last_action_error"].as_str().unwrap_or("null")
            ));
            if done {
                break;
            }
        }
        let grade = site.call("GET", "/grade", "", None).await;
        let score = grade.body["score"].as_f64().expect("a score");
        log.push(format!(
            "[END] success={} steps={} score={score:.2} rewards={}",
            word(score >= 0.1),
            rewards.len(),
            rewards.join(",")
        ));
    }
    log
}

async fn ends(replies: [&[Value]; 3]) -> Vec<String> {
    let site = Site::of("triage").await;
    let of = |at: usize| {
        let text = |reply: &Value| match reply {
            Value::String(text) => text.clone(),
            act => act.to_string(),
        };
        let texts: Vec<_> = replies[at].iter().map(text).collect();
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        rule(["alert_001", "alert_101", "alert_301"][at], "cursor", &texts)
    };
    let model = Model::start((0..3).map(of).collect(), "nothing to say");
    let log = run(&site, &model).await;
    let scores = log.into_iter().filter(|line| line.starts_with("[END]"));
    scores.map(|line| line.split(" rewards").next().expect("a head").to_string()).collect()
}

#[tokio::test]
async fn the_best_play_scores_as_at_the_original_and_more_where_that_never_ended() {
    let logs = |target| act("investigate", target, "aspect", "logs");
    let cause = |target, text| act("diagnose", target, "root_cause", text);
    let rank = |target, priority| act("prioritize", target, "priority", priority);
    let repair = |target, text| act("remediate", target, "action", text);
    let verify = act("verify", "database_primary", "", "");
    let log = ends([
        &[
            logs("database_primary"),
            cause("alert_001", "connection pool exhaustion, stale connections"),
            rank("alert_001", "P1"),
            repair("database_primary", "kill stale connections"),
            verify,
        ],
        &[
            logs("app_server_1"),
            logs("cache_redis"),
            cause("alert_101", "memory leak in session cache"),
            cause("alert_102", "symptom, client-side timeouts"),
            cause("alert_103", "upstream connection holding"),
            rank("alert_101", "P1"),
            rank("alert_102", "P2"),
            rank("alert_103", "P3"),
            repair("app_server_1", "rolling restart"),
        ],
        &[
            logs("database_primary"),
            logs("app_server_1"),
            cause("alert_303", "migration holds table lock on users table"),
            cause("alert_304", "red herring, normal"),
            rank("alert_303", "P1"),
            repair("database_primary", "cancel migration"),
        ],
    ])
    .await;
    assert_eq!(
        log,
        [
            "[END] success=true steps=7 score=0.95",
            "[END] success=true steps=9 score=0.93",
            "[END] success=true steps=6 score=0.99",
        ]
    );
}

#[tokio::test]
async fn a_model_that_talks_or_guesses_is_paid_the_floor() {
    let fenced = format!("```json\n{}\n```", act("remediate", "app_server_1", "action", "restart"));
    let log = ends([
        &[json!("no json here")],
        &[json!(fenced)],
        &[json!({"foo": 1}), act("remediate", "x", "action", "kill")],
    ])
    .await;
    assert_eq!(
        log,
        [
            "[END] success=false steps=10 score=0.01",
            "[END] success=true steps=1 score=0.40",
            "[END] success=false steps=30 score=0.01",
        ]
    );
}
