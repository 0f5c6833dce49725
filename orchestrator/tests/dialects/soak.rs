//! Fuzzed actions: whatever comes, the answer is no 5xx and has the documented shape. All of them
//! with `MAYDAY_SOAK=1`, some otherwise.

use crate::kit::{Site, soak};
use mayday::dialects;
use model::Noise;
use serde_json::{Map, Value, json};

/// Words of the dialects and around them.
const WORDS: &[&str] = &[
    "",
    " ",
    "noop",
    "restart_service",
    "check_health",
    "read_log",
    "start_service",
    "reboot",
    "scale_service",
    "rollback_service",
    "rollback",
    "fix_query",
    "clear_cache",
    "check_logs",
    "web-api",
    "auth-db",
    "payment-gateway",
    "api-gateway",
    "frontend",
    "user-db",
    "easy",
    "hard",
    "auth-service",
    "payment-service",
    "investigate",
    "diagnose",
    "prioritize",
    "remediate",
    "escalate",
    "verify",
    "database_primary",
    "alert_001",
    "P1",
    "systemctl restart nginx",
    "kill -9 6789",
    "rm -rf /",
    "$(",
    "`",
    "\u{0}",
    "\u{1F600}",
    "../../etc/passwd",
    "null",
];
/// Names of fields.
const FIELDS: &[&str] = &[
    "type",
    "target",
    "params",
    "command",
    "explanation",
    "action",
    "action_type",
    "parameters",
    "metadata",
    "task_id",
    "task_name",
    "seed",
    "episode_id",
    "aspect",
    "root_cause",
    "priority",
];

/// A value at random, at most so deep.
fn value(dice: Noise, depth: u64) -> Value {
    match dice.bits(0) % if depth > 0 { 9 } else { 6 } {
        0 => Value::Null,
        1 => dice.bits(1).is_multiple_of(2).into(),
        2 => json!(dice.bits(1) as i64),
        3 => json!(dice.between(1, -1e9, 1e9)),
        4 | 5 => word(dice.branch("word")).into(),
        6 => (0..dice.bits(1) % 4)
            .map(|at| value(dice.branch("list").index(at), depth - 1))
            .collect(),
        _ => Value::Object(fields(dice.branch("map"), depth - 1)),
    }
}

fn word(dice: Noise) -> String {
    let pick = |n: i64| WORDS[dice.bits(n) as usize % WORDS.len()];
    match dice.bits(0) % 8 {
        0 => format!("{} {}", pick(1), pick(2)),
        1 => pick(1).repeat(1 + dice.bits(2) as usize % 200),
        _ => pick(1).to_string(),
    }
}

fn fields(dice: Noise, depth: u64) -> Map<String, Value> {
    let count = dice.bits(0) % 5;
    let field = |at| {
        let dice = dice.index(at);
        let name = FIELDS[dice.bits(0) as usize % FIELDS.len()];
        (name.to_string(), value(dice.branch("value"), depth))
    };
    (1..=count).map(field).collect()
}

/// An action that is nearly one of the dialect, or anything at all.
fn action(dialect: &str, dice: Noise) -> Value {
    if dice.bits(0).is_multiple_of(4) {
        return value(dice.branch("any"), 3);
    }
    let (one, two) = (word(dice.branch("one")), word(dice.branch("two")));
    let mut action = match dialect {
        "sentinel" => json!({"action": {"command": one, "target": two}}),
        "netarena" => json!({"command": one, "explanation": two}),
        "triage" => json!({"action_type": one, "target": two, "parameters": {}}),
        _ => json!({"type": one, "target": two, "params": {}}),
    };
    if dice.bits(1).is_multiple_of(3)
        && let Value::Object(action) = &mut action
    {
        action.extend(fields(dice.branch("more"), 2));
    }
    action
}

#[tokio::test]
async fn no_action_is_answered_with_a_failure() {
    let actions: u64 = if soak() { 100_000 } else { 400 };
    for dialect in dialects::all() {
        let site = Site::of(dialect.name).await;
        let dice = Noise::root(7).branch(dialect.name);
        for at in 0..actions {
            let dice = dice.index(at);
            let reset = dice.bits(0).is_multiple_of(20);
            let path = match (reset, dialect.name) {
                (true, "netarena") => "/reset?task_id=task2",
                (true, _) => "/reset",
                (false, "netarena") => "/step?task_id=task2",
                (false, _) => "/step",
            };
            let body = action(dialect.name, dice.branch("action"));
            let mut text = body.to_string();
            if dice.bits(1).is_multiple_of(30) {
                // Half a body: what is cut anywhere is no JSON, and may be no text.
                let cut = dice.bits(2) as usize % (text.len() + 1);
                while !text.is_char_boundary(cut.min(text.len())) {
                    text.pop();
                }
                text.truncate(cut.min(text.len()));
            }
            let answer = site.send("POST", path, "soak", text.clone()).await;
            let status = answer.status;
            let known = [200, 400, 404, 413, 422].contains(&status);
            assert!(known, "{dialect:?} {path} {text}: {status} {}", answer.body);
            let detailed = !answer.body["detail"].is_null();
            assert_eq!(detailed, status != 200, "{dialect:?} {path} {text}: {}", answer.body);
        }
    }
}
