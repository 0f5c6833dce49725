//! Statuses are computed: no figure of a calibration table moves them. Each task is also solved by
//! a sound way that its original turns down.

use crate::kit::Site;
use serde_json::{Value, json};

/// Names of fields that show figures, which the test of the table leaves out.
const FIGURES: [&str; 5] = ["cpu", "memory", "error_rate", "latency_ms", "request_rate"];

/// A task of a dialect: how to begin it, and steps that go through its statuses.
struct Case {
    dialect: &'static str,
    reset: Value,
    steps: Vec<Value>,
}

fn incident(task: &str, steps: &[(&str, &str)]) -> Case {
    let steps = steps.iter().map(|(kind, target)| json!({"type": kind, "target": target}));
    let reset = json!({"task_id": task});
    Case { dialect: "incident-sim", reset, steps: steps.collect() }
}

fn sentinel(task: &str, steps: &[(&str, &str)]) -> Case {
    let action = |(command, target): &(&str, &str)| json!({"action": {"command": command, "target": target}});
    let reset = json!({"task_id": task});
    Case { dialect: "sentinel", reset, steps: steps.iter().map(action).collect() }
}

fn cases() -> Vec<Case> {
    let wait = ("noop", "");
    let look = ("check_logs", "frontend");
    vec![
        incident("easy", &[look, ("restart_service", "payment-service")]),
        incident("medium", &[look, ("scale_service", "api-gateway"), ("fix_query", "user-db")]),
        incident(
            "hard",
            &[
                look,
                ("restart_service", "auth-service"),
                ("scale_service", "api-gateway"),
                ("clear_cache", "frontend"),
            ],
        ),
        sentinel("api-recovery-easy", &[wait, ("restart_service", "web-api")]),
        sentinel(
            "auth-latency-medium",
            &[wait, wait, wait, ("restart_service", "auth-db"), ("restart_service", "web-api")],
        ),
        sentinel(
            "payment-cascade-hard",
            &[
                wait,
                wait,
                wait,
                wait,
                ("restart_service", "payment-gateway"),
                ("restart_service", "auth-db"),
                ("restart_service", "web-api"),
            ],
        ),
    ]
}

impl Case {
    /// What is answered, without figures, texts and names of episodes.
    async fn play(&self, figures: bool) -> Vec<Value> {
        let site = Site::altered(self.dialect, figures, |_| {}).await;
        let mut seen = Vec::new();
        let reset = site.call("POST", "/reset", "", Some(&self.reset)).await;
        assert_eq!(reset.status, 200, "{}", reset.body);
        seen.push(reset.body);
        for step in &self.steps {
            let answer = site.call("POST", "/step", "", Some(step)).await;
            seen.push(answer.body);
            seen.push(site.call("GET", "/state", "", None).await.body);
        }
        seen.iter_mut().for_each(bare);
        seen
    }
}

/// Takes away what may differ.
fn bare(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in FIGURES.iter().chain(&["message", "logs", "terminal_output", "episode_id"])
            {
                fields.remove(*name);
            }
            fields.values_mut().for_each(bare);
        }
        Value::Array(items) => items.iter_mut().for_each(bare),
        _ => {}
    }
}

#[tokio::test]
async fn without_the_table_statuses_ends_and_rewards_are_the_same() {
    for case in cases() {
        let with = case.play(true).await;
        let without = case.play(false).await;
        assert_eq!(with, without, "{} {}", case.dialect, case.reset);
        let last = &with[with.len() - 2];
        assert_eq!(last["done"], true, "{} {}: {last}", case.dialect, case.reset);
    }
}

#[tokio::test]
async fn each_task_is_solved_by_a_sound_way_that_its_original_refused() {
    for (case, score) in [
        (incident("easy", &[("rollback", "payment-service")]), Some(1.0)),
        // The second rollback undoes the migration that lost the index.
        (
            incident(
                "medium",
                &[
                    ("scale_service", "api-gateway"),
                    ("rollback", "user-db"),
                    ("rollback", "user-db"),
                ],
            ),
            None,
        ),
        (
            incident(
                "hard",
                &[
                    ("rollback", "auth-service"),
                    ("scale_service", "api-gateway"),
                    ("clear_cache", "frontend"),
                ],
            ),
            Some(1.0),
        ),
        (sentinel("api-recovery-easy", &[("start_service", "web-api")]), None),
        (sentinel("auth-latency-medium", &[("scale_service", "auth-db")]), None),
        (
            sentinel(
                "payment-cascade-hard",
                &[("start_service", "payment-gateway"), ("restart_service", "web-api")],
            ),
            None,
        ),
    ] {
        let seen = case.play(true).await;
        let last = &seen[seen.len() - 2];
        assert_eq!(last["done"], true, "{} {}: {last}", case.dialect, case.reset);
        let resolved = match case.dialect {
            "sentinel" => seen[seen.len() - 1]["resolved"].clone(),
            _ => last["info"]["grader_summary"]["is_complete"].clone(),
        };
        assert_eq!(resolved, true, "{} {}", case.dialect, case.reset);
        if let Some(score) = score {
            assert_eq!(last["observation"]["score_so_far"], score, "{}", case.reset);
        }
    }
}
