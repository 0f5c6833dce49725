//! The requests of Sentinel-SRE's inference program, and its log.

use super::{Model, rule, word};
use crate::kit::Site;
use crate::players::sentinel_socket;
use serde_json::{Value, json};

const TASKS: [&str; 3] = ["api-recovery-easy", "auth-latency-medium", "payment-cascade-hard"];
const SEED: u64 = 20_260_408;
const SERVICES: [&str; 3] = ["web-api", "auth-db", "payment-gateway"];

/// A command and its target of a reply.
fn decode(reply: &str) -> (String, String) {
    let words: Vec<_> = reply.split(|c: char| c.is_whitespace() || c == '`').collect();
    let commands = ["restart_service", "read_log", "check_health"];
    let command = words.iter().find(|word| commands.contains(word)).copied().unwrap_or("noop");
    let target = words.iter().find(|word| SERVICES.contains(word)).copied().unwrap_or_default();
    (command.into(), target.into())
}

/// Idling, or a restart of nothing, is replaced by what the alerts call for.
fn mended((command, target): (String, String), seen: &Value) -> (String, String) {
    let aimed = command != "restart_service" || !target.is_empty();
    if command != "noop" && aimed {
        return (command, target);
    }
    let alerts: Vec<_> = seen["active_alerts"]
        .as_array()
        .expect("alerts")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let critical = alerts.iter().find(|alert| alert.starts_with("CRITICAL"));
    let alert = critical.or(alerts.first()).copied().unwrap_or_default();
    match SERVICES.iter().find(|service| alert.contains(*service)) {
        Some(service) => ("restart_service".into(), service.to_string()),
        None => (command, target),
    }
}

async fn run(site: &Site, model: &Model) -> Vec<String> {
    let tasks = TASKS.join(",");
    let mut log =
        vec![format!("[START] env=sentinel-sre model=scripted tasks={tasks} seed={SEED}")];
    let mut socket = sentinel_socket(site, "").await;
    let mut scores = Vec::new();
    for (at, task) in (0u64..).zip(TASKS) {
        let seed = SEED + at;
        log.push(format!("[TASK_START] task_id={task} seed={seed}"));
        let reset = json!({"type": "reset", "data": {"task_id": task, "seed": seed}});
        let mut seen = socket.ask(reset.to_string()).await["data"]["observation"].clone();
        let mut rewards = Vec::new();
        let mut done = false;
        while !done {
            let number = rewards.len() + 1;
            let prompt = format!("Task ID: {task}\nStep: {number}\n{seen}");
            let messages = [
                json!({"role": "system", "content": "One command a line."}),
                json!({"role": "user", "content": prompt}),
            ];
            let settings = json!({"temperature": 0.0, "max_tokens": 100});
            let reply = model.chat(&messages, settings).await.unwrap_or_default();
            let (command, target) = mended(decode(&reply), &seen);
            let data = json!({"command": command, "target": target});
            let answer = socket.ask(json!({"type": "step", "data": data}).to_string()).await;
            let data = &answer["data"];
            let reward = data["reward"].as_f64().expect("a reward");
            done = data["done"].as_bool().expect("a flag");
            let shown = match target.as_str() {
                "" => format!("{command}()"),
                target => format!("{command}('{target}')"),
            };
            log.push(format!(
                "[STEP] task={task} step={number} action={shown} reward={reward:.4} done={} \
                 error=null",
                word(done)
            ));
            rewards.push(reward);
            seen = data["observation"].clone();
        }
        let state = socket.ask(json!({"type": "state"}).to_string()).await;
        let resolved = state["data"]["resolved"].as_bool().expect("a flag");
        let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
        let score = mean.clamp(0.01, 0.99);
        let paid: Vec<_> = rewards.iter().map(|reward| format!("{reward:.4}")).collect();
        log.push(format!(
            "[TASK_END] task={task} success={} steps={} task_score={score:.4} rewards={}",
            word(resolved),
            rewards.len(),
            paid.join(",")
        ));
        scores.push((task, score));
    }
    let mean = scores.iter().map(|(_, score)| score).sum::<f64>() / scores.len() as f64;
    let each: Vec<_> = scores.iter().map(|(task, score)| format!("{task}:{score:.4}")).collect();
    log.push(format!("[END] baseline_score={mean:.4} task_scores={}", each.join(",")));
    log
}

const BASELINE: &str = "[END] baseline_score=0.9707 task_scores=api-recovery-easy:0.9900,\
                        auth-latency-medium:0.9900,payment-cascade-hard:0.9320";

#[tokio::test]
async fn the_published_baseline_is_what_is_reached_here() {
    let site = Site::of("sentinel").await;
    let of = |task: &str, replies: &[&str]| rule(&format!("Task ID: {task}"), "cursor", replies);
    let rules = vec![
        of(TASKS[0], &["restart_service web-api"]),
        of(TASKS[1], &["restart_service auth-db"]),
        of(TASKS[2], &["restart_service payment-gateway", "restart_service web-api"]),
    ];
    let log = run(&site, &Model::start(rules, "noop")).await;
    assert_eq!(log.last().map(String::as_str), Some(BASELINE), "{log:#?}");
    let steps = log.iter().filter(|line| line.starts_with("[STEP]")).count();
    assert_eq!(steps, 4, "{log:#?}");
    // The program's own rule plays alone where the model says nothing.
    let log = run(&site, &Model::start(Vec::new(), "noop")).await;
    assert_eq!(log.last().map(String::as_str), Some(BASELINE), "{log:#?}");
}

#[tokio::test]
async fn looking_alone_mends_nothing_and_scores_the_floor() {
    let site = Site::of("sentinel").await;
    let log = run(&site, &Model::start(Vec::new(), "check_health")).await;
    let end = log.last().expect("an end");
    assert!(end.starts_with("[END] baseline_score=0.0100"), "{log:#?}");
}
