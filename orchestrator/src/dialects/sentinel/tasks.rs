//! Tasks of Sentinel-SRE, how one is chosen, and what the components are called and held to.

use crate::stage::{Health, Objective};
use openenv::{Fields, Item};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Components in the order in which they are shown, with their latency objectives.
pub(super) const SERVICES: [Objective; 3] = [
    Objective { component: "web-api", latency_s: 2.0 },
    Objective { component: "auth-db", latency_s: 0.8 },
    Objective { component: "payment-gateway", latency_s: 1.0 },
];

/// Most steps of an episode.
pub(super) const STEPS_MAX: u32 = 10;

/// Name of the field that selects a task, and what it may be called besides.
const SELECTORS: [&str; 6] = ["task_id", "task", "task_name", "scenario", "difficulty", "level"];

/// One task: what is played, and what its steps are worth.
#[derive(Debug, PartialEq)]
pub(super) struct Task {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) difficulty: &'static str,
    pub(super) scenario: &'static str,
    pub(super) description: &'static str,
    pub(super) briefing: &'static str,
    /// Steps within which the service-level agreement holds.
    pub(super) target: u32,
    pub(super) grader: &'static str,
    /// Weight of the components' health.
    pub(super) health: f64,
    /// Weight of the steps that are left.
    pub(super) pace: f64,
    /// Bonus for an end within the target, and after it.
    pub(super) bonus: (f64, f64),
}

pub(super) static TASKS: [Task; 3] = [
    Task {
        id: "api-recovery-easy",
        name: "API Tier Outage Recovery",
        difficulty: "easy",
        scenario: "sentinel/api-recovery",
        description: "The web API is gone; bring it back.",
        briefing: "P1: users get HTTP 502. Probes cannot reach web-api at all; what it depends on \
                   answers.",
        target: 3,
        grader: "grader-api-recovery-easy-v1",
        health: 0.50,
        pace: 0.26,
        bonus: (0.18, 0.10),
    },
    Task {
        id: "auth-latency-medium",
        name: "Authentication Latency Containment",
        difficulty: "medium",
        scenario: "sentinel/auth-latency",
        description: "Logins take seconds; end that before it spreads.",
        briefing: "P2: the 99th percentile of auth-db is above 2.5 s, fewer logins succeed, and its \
                   queue grows.",
        target: 4,
        grader: "grader-auth-latency-medium-v1",
        health: 0.52,
        pace: 0.24,
        bonus: (0.16, 0.09),
    },
    Task {
        id: "payment-cascade-hard",
        name: "Payment Cascade Stabilization",
        difficulty: "hard",
        scenario: "sentinel/payment-cascade",
        description: "Nobody can pay and it spreads; stop it at its origin first.",
        briefing: "P1: payment-gateway does not answer and web-api suffers from it. No revenue comes \
                   in.",
        target: 5,
        grader: "grader-payment-cascade-hard-v1",
        health: 0.56,
        pace: 0.22,
        bonus: (0.15, 0.08),
    },
];

/// A status in the dialect's words.
pub(super) fn status(health: Health) -> &'static str {
    match health {
        Health::Healthy => "running",
        Health::Degraded => "degraded",
        Health::Down => "crashed",
    }
}

/// What an alert says of a component, if there is one.
pub(super) fn alert(component: &str, health: Health) -> Option<String> {
    match health {
        Health::Healthy => None,
        Health::Degraded => Some(format!("WARN: {component} degraded")),
        Health::Down => Some(format!("CRITICAL: {component} offline")),
    }
}

/// What a reset asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wish {
    pub(super) task: Option<&'static Task>,
    pub(super) seed: Option<i128>,
    pub(super) episode: Option<String>,
}

impl Wish {
    /// Of the fields of a reset; those that nobody knows are ignored.
    pub(super) fn read(fields: &Fields) -> Result<Wish, Box<Item>> {
        let mut wish = Wish::default();
        for name in SELECTORS {
            match fields.get(name) {
                None | Some(Value::Null) => {}
                Some(value) => {
                    let found = value.as_str().and_then(find);
                    wish.task = Some(found.ok_or_else(|| no_task(name, value))?);
                    break;
                }
            }
        }
        wish.seed = match fields.get("seed") {
            None | Some(Value::Null) => None,
            Some(value) => Some(whole(value).ok_or_else(|| no_seed(value))?),
        };
        wish.episode = match fields.get("episode_id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if id.chars().count() <= 255 => Some(id.clone()),
            Some(other) => {
                let msg = "Input should be a valid string of at most 255 characters";
                return Err(Item::new("string_type", &["episode_id"], msg, other.clone()).into());
            }
        };
        Ok(wish)
    }

    /// The task: as named, else by the seed, else by the name of the episode, else the next one.
    pub(super) fn choose(&self, next: impl FnOnce() -> usize) -> &'static Task {
        let at = match (self.task, self.seed, &self.episode) {
            (Some(task), ..) => return task,
            (None, Some(seed), _) => seed.rem_euclid(TASKS.len() as i128) as usize,
            (None, None, Some(id)) => {
                let head = Sha256::digest(id.as_bytes());
                let head = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
                head as usize % TASKS.len()
            }
            (None, None, None) => next() % TASKS.len(),
        };
        &TASKS[at]
    }
}

/// The task of this id, name, difficulty or scenario.
pub(super) fn find(word: &str) -> Option<&'static Task> {
    let word = word.trim();
    TASKS.iter().find(|task| {
        let stem = task.scenario.rsplit('/').next();
        [task.id, task.name, task.difficulty].contains(&word) || stem == Some(word)
    })
}

fn whole(value: &Value) -> Option<i128> {
    let number = value.as_i64().map(i128::from).or(value.as_u64().map(i128::from));
    number.or_else(|| {
        let float = value.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 9e15)?;
        Some(float as i128)
    })
}

fn no_task(field: &str, value: &Value) -> Box<Item> {
    let known: Vec<_> = TASKS.iter().map(|task| task.id).collect();
    let msg = format!("Unknown task; expected one of {}, or easy, medium, hard", known.join(", "));
    Item::new("literal_error", &[field], msg, value.clone()).into()
}

fn no_seed(value: &Value) -> Box<Item> {
    let msg = "Input should be a valid integer";
    Item::new("int_parsing", &["seed"], msg, value.clone()).into()
}

/// A task as the list shows it.
pub(super) fn listed(task: &Task) -> Value {
    json!({
        "id": task.id,
        "name": task.name,
        "difficulty": task.difficulty,
        "description": task.description,
        "sla_target_steps": task.target,
        "max_steps": STEPS_MAX,
        "grader_id": task.grader,
        "has_grader": true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(fields: Value, next: usize) -> &'static str {
        let wish = Wish::read(fields.as_object().unwrap()).unwrap();
        wish.choose(|| next).difficulty
    }

    #[test]
    fn a_task_is_chosen_by_name_seed_episode_or_turn() {
        for (fields, next, difficulty) in [
            (json!({"task_id": "payment-cascade-hard", "seed": 0}), 0, "hard"),
            (json!({"level": "medium"}), 0, "medium"),
            (json!({"scenario": "api-recovery"}), 1, "easy"),
            (json!({"seed": 0}), 2, "easy"),
            (json!({"seed": 1}), 0, "medium"),
            (json!({"seed": -1}), 0, "hard"),
            (json!({"episode_id": "ep-1"}), 2, "easy"),
            (json!({"episode_id": "ep-2"}), 0, "hard"),
            (json!({}), 4, "medium"),
        ] {
            assert_eq!(chosen(fields.clone(), next), difficulty, "{fields}");
        }
        for (fields, field) in [
            (json!({"task_id": "does-not-exist"}), "task_id"),
            (json!({"difficulty": 3}), "difficulty"),
            (json!({"seed": "abc"}), "seed"),
            (json!({"seed": 1.5}), "seed"),
            (json!({"episode_id": 7}), "episode_id"),
        ] {
            let item = Wish::read(fields.as_object().unwrap()).unwrap_err();
            assert_eq!(item.loc, [field.into()], "{fields}");
        }
    }
}
