//! The requests of the Production Incident Response Simulator's inference program, and its log.

use super::{Model, rule, word};
use crate::kit::Site;
use serde_json::{Value, json};

const TASKS: [&str; 3] = ["easy", "medium", "hard"];

fn message(role: &str, content: String) -> Value {
    json!({"role": role, "content": content})
}

/// The object in a reply, fenced or not; looking at a log where there is none.
fn decode(reply: Option<String>) -> Value {
    let object = reply.and_then(|reply| {
        let (from, to) = (reply.find('{')?, reply.rfind('}')?);
        serde_json::from_str::<Value>(reply.get(from..=to)?).ok()
    });
    object.unwrap_or(json!({"type": "check_logs", "target": "api-gateway", "params": {}}))
}

fn prompt(seen: &Value) -> String {
    let services: Vec<_> = seen["services"]
        .as_array()
        .expect("services")
        .iter()
        .map(|one| {
            let figure = |name: &str| one[name].as_f64().expect("a figure");
            format!(
                "{} {} cpu {:.1} memory {:.1} errors {:.0}% latency {}",
                one["name"].as_str().expect("a name"),
                one["status"].as_str().expect("a status"),
                figure("cpu"),
                figure("memory"),
                100.0 * figure("error_rate"),
                one["latency_ms"].as_i64().expect("whole")
            )
        })
        .collect();
    let users = seen["business_impact"]["users_affected"].as_i64().expect("whole");
    let name = seen["task_name"].as_str().expect("a name");
    format!("# INCIDENT: {name}\n{}\nusers: {users}", services.join("\n"))
}

/// Plays all tasks; what the program would log.
async fn run(site: &Site, model: &Model) -> Vec<String> {
    let mut log = Vec::new();
    for task in TASKS {
        log.push(format!(
            "[START] task={task} env=production-incident-response-simulator model=scripted"
        ));
        let reset = site.call("POST", "/reset", "", Some(&json!({"task_id": task}))).await;
        assert_eq!(reset.status, 200);
        let mut history = vec![message("system", "You are on call.".into())];
        let (mut seen, mut rewards, mut done) = (reset.body, Vec::new(), false);
        let most = seen["max_steps"].as_u64().expect("whole");
        for number in 1..=most {
            history.push(message("user", prompt(&seen)));
            let settings = json!({"temperature": 0.05, "max_tokens": 256, "seed": 42});
            let action = decode(model.chat(&history, settings).await);
            history.push(message("assistant", action.to_string()));
            let step = site.call("POST", "/step", "", Some(&action)).await;
            assert_eq!(step.status, 200, "{}", step.body);
            let reward = step.body["reward"].as_f64().expect("a reward");
            done = step.body["done"].as_bool().expect("a flag");
            rewards.push(format!("{reward:.2}"));
            let (kind, target) = (action["type"].as_str(), action["target"].as_str());
            log.push(format!(
                "[STEP] step={number} action={}({}) reward={reward:.2} done={} error=null",
                kind.unwrap_or_default(),
                target.unwrap_or_default(),
                word(done)
            ));
            seen = step.body["observation"].clone();
            if done {
                break;
            }
        }
        let score = seen["score_so_far"].as_f64().expect("a score");
        log.push(format!(
            "[END] success={} steps={} score={score:.2} rewards={}",
            word(done && score >= 0.95),
            rewards.len(),
            rewards.join(",")
        ));
    }
    log
}

const INCIDENTS: [&str; 3] = [
    "# INCIDENT: Payment Service OOM Crash",
    "# INCIDENT: Black Friday DB Overload",
    "# INCIDENT: Auth Service Cascade",
];

fn action(kind: &str, target: &str) -> String {
    json!({"type": kind, "target": target, "params": {}}).to_string()
}

async fn ends(replies: [&[&str]; 3]) -> Vec<String> {
    let site = Site::of("incident-sim").await;
    let of = |at: usize| rule(INCIDENTS[at], "assistant_count", replies[at]);
    let model = Model::start((0..3).map(of).collect(), &action("check_logs", "api-gateway"));
    let log = run(&site, &model).await;
    log.into_iter().filter(|line| line.starts_with("[END]")).collect()
}

#[tokio::test]
async fn the_best_play_scores_as_at_the_original() {
    let (restart, scale) =
        (action("restart_service", "payment-service"), action("scale_service", "api-gateway"));
    let (fix, auth) = (action("fix_query", "user-db"), action("restart_service", "auth-service"));
    let clear = action("clear_cache", "frontend");
    let log = ends([&[&restart], &[&scale, &fix], &[&auth, &scale, &clear]]).await;
    assert_eq!(
        log,
        [
            "[END] success=true steps=1 score=1.00 rewards=0.98",
            "[END] success=true steps=2 score=1.00 rewards=0.38,0.58",
            "[END] success=true steps=3 score=1.00 rewards=0.25,0.25,0.45",
        ]
    );
}

#[tokio::test]
async fn a_model_that_talks_or_refuses_is_played_as_a_look_at_logs() {
    let (scale, fix) = (action("scale_service", "api-gateway"), action("fix_query", "user-db"));
    let fenced = format!("```json\n{scale}\n```");
    let log = ends([&["no json here"], &[&fenced, &fix], &["400"]]).await;
    let scores: Vec<_> = log.iter().map(|line| line.split(" rewards").next().unwrap()).collect();
    assert_eq!(
        scores,
        [
            "[END] success=false steps=5 score=0.00",
            "[END] success=true steps=2 score=1.00",
            "[END] success=false steps=10 score=0.00",
        ]
    );
}
