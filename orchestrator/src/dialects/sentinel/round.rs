//! One episode of Sentinel-SRE and what its steps pay.
//!
//! A step takes [`STEP_S`] simulated seconds, whatever it does. It pays as at the original
//! `W·mean(status) + E·(steps left)/10 + q`, and a bonus with the step after which all components
//! run, within 0.01..=0.99. That is an advance: an episode that ends unresolved takes back with its
//! last step what it paid above the floor, so that its mean is the floor.

use super::tasks::{SERVICES, STEPS_MAX, TASKS, Task, Wish, alert, status};
use crate::stage::{Health, Play, Stage, Trouble};
use serde_json::{Value, json};
use std::sync::Arc;

/// Simulated seconds of one step.
pub(super) const STEP_S: u32 = 60;
/// Least and most that a step pays.
pub(super) const BOUNDS: (f64, f64) = (0.01, 0.99);
/// The seed of a world where none is given.
const SEED: u64 = 20_260_408;

/// An episode of a session.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) task: &'static Task,
    play: Play,
    name: String,
    steps: u32,
    health: Vec<Health>,
    done: bool,
    rewards: Vec<f64>,
}

/// What a step is answered with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turn {
    pub(super) observation: Value,
    pub(super) reward: f64,
    pub(super) done: bool,
}

impl Turn {
    pub(super) fn value(&self) -> Value {
        json!({"observation": self.observation, "reward": self.reward, "done": self.done})
    }
}

/// What a command comes to, before the components answer.
struct Deed {
    actions: Vec<Value>,
    said: String,
    credit: f64,
}

/// The answer to a step before any reset.
pub(super) fn uninitialized() -> Turn {
    let observation = json!({
        "task_id": "uninitialized", "task_name": "uninitialized", "task_difficulty": "unknown",
        "system_health": 0.0, "active_alerts": [], "attempts_remaining": 0,
        "terminal_output": "ERROR: there is no episode: send reset first.",
    });
    Turn { observation, reward: BOUNDS.0, done: true }
}

impl Round {
    /// Begins an episode; `turn`: how many were begun in this session by turn.
    pub(super) async fn begin(
        stage: &Arc<Stage>,
        wish: &Wish,
        turn: &mut usize,
    ) -> Result<Round, Trouble> {
        let task = wish.choose(|| {
            *turn += 1;
            *turn - 1
        });
        let seed = wish.seed.map_or(SEED, |seed| seed as u64);
        let play = stage.begin(task.scenario, seed).await?;
        let health = play.health(&SERVICES).await?;
        let name = wish.episode.clone().unwrap_or_else(|| play.id().to_string());
        Ok(Round { task, play, name, steps: 0, health, done: false, rewards: Vec::new() })
    }

    /// What is seen after the reset.
    pub(super) fn first(&self) -> Turn {
        let Task { name, briefing, .. } = self.task;
        let said = format!("Task '{name}'. {briefing} {STEPS_MAX} attempts.");
        Turn { observation: self.observation(&said), reward: BOUNDS.0, done: false }
    }

    fn resolved(&self) -> bool {
        self.health.iter().all(|health| *health == Health::Healthy)
    }

    fn observation(&self, said: &str) -> Value {
        let named = SERVICES.iter().zip(&self.health);
        let alerts = named.filter_map(|(of, health)| alert(of.component, *health));
        let alerts: Vec<_> = alerts.collect();
        let running = self.health.iter().filter(|health| **health == Health::Healthy).count();
        json!({
            "task_id": self.task.id,
            "task_name": self.task.name,
            "task_difficulty": self.task.difficulty,
            "system_health": rounded(running as f64 / SERVICES.len() as f64),
            "active_alerts": alerts,
            "terminal_output": said,
            "attempts_remaining": STEPS_MAX.saturating_sub(self.steps),
        })
    }

    /// The state, as `state` shows it.
    pub(super) fn state(&self) -> Value {
        let Task { id, name, difficulty, description, target, grader, briefing, .. } = self.task;
        let statuses: serde_json::Map<_, _> = SERVICES
            .iter()
            .zip(&self.health)
            .map(|(of, health)| (of.component.to_string(), status(*health).into()))
            .collect();
        json!({
            "episode_id": self.name,
            "step_count": self.steps,
            "task_id": id,
            "task_name": name,
            "task_difficulty": difficulty,
            "task_description": description,
            "sla_target_steps": target,
            "grader_id": grader,
            "incident_briefing": briefing,
            "services_status": statuses,
            "resolved": self.done && self.resolved(),
        })
    }

    /// Takes a step.
    pub(super) async fn step(&mut self, command: &str, target: &str) -> Result<Turn, Trouble> {
        if self.done {
            let said = "The episode is over: nothing was done. Send reset for another one.";
            return Ok(Turn { observation: self.observation(said), reward: 0.0, done: true });
        }
        let deed = self.deed(&command.trim().to_lowercase(), &target.trim().to_lowercase());
        let told = self.play.turn(deed.actions, STEP_S).await?;
        self.health = self.play.health(&SERVICES).await?;
        self.steps += 1;
        let resolved = self.resolved();
        self.done = resolved || self.steps >= STEPS_MAX;
        let mut said = deed.said;
        if let Some(refused) = told.iter().find(|result| !result.ok) {
            said = format!("FAILED: {}", refused.message);
        }
        for lines in told.iter().filter_map(|result| result.data.as_ref()) {
            said += &log_lines(lines);
        }
        let reward = match (resolved, self.done) {
            (false, true) => self.take_back(),
            _ => self.worth(deed.credit, resolved),
        };
        self.rewards.push(reward);
        if resolved {
            said += "\nINCIDENT RESOLVED.";
            self.play.resolve().await?;
        } else if self.done {
            said += "\nSLA BREACH: no attempts are left.";
        }
        Ok(Turn { observation: self.observation(&said), reward, done: self.done })
    }

    /// What a step is worth, unless it is the last one of an incident that goes on.
    fn worth(&self, credit: f64, resolved: bool) -> f64 {
        let Task { health, pace, bonus, target, .. } = self.task;
        let weight = |health: &Health| match health {
            Health::Healthy => 1.0,
            Health::Degraded => 0.55,
            Health::Down => 0.15,
        };
        let mean = self.health.iter().map(weight).sum::<f64>() / self.health.len() as f64;
        let left = f64::from(STEPS_MAX.saturating_sub(self.steps)) / f64::from(STEPS_MAX);
        let bonus = match resolved {
            true if self.steps <= *target => bonus.0,
            true => bonus.1,
            false => 0.0,
        };
        rounded((health * mean + pace * left + credit + bonus).clamp(BOUNDS.0, BOUNDS.1))
    }

    /// What brings the mean of all steps down to the floor.
    fn take_back(&self) -> f64 {
        let paid: f64 = self.rewards.iter().sum();
        rounded(BOUNDS.0 * f64::from(self.steps) - paid)
    }

    /// The mean of the steps' rewards of an episode that is resolved; else the floor.
    pub(super) fn score(&self) -> f64 {
        if !self.done || !self.resolved() {
            return BOUNDS.0;
        }
        let mean = self.rewards.iter().sum::<f64>() / self.rewards.len().max(1) as f64;
        rounded(mean.clamp(BOUNDS.0, BOUNDS.1))
    }

    fn deed(&self, command: &str, target: &str) -> Deed {
        let at = SERVICES.iter().position(|service| service.component == target);
        let runs = at.is_some_and(|at| self.health[at] == Health::Healthy);
        let done = |actions: Vec<Value>, said: String, credit: f64| Deed { actions, said, credit };
        let known = COMMANDS.contains(&command);
        match (command, at) {
            ("restart_service", Some(_)) => {
                let (said, credit) = match runs {
                    true => (format!("'{target}' was running and was restarted."), 0.03),
                    false => (format!("'{target}' was restarted."), 0.20),
                };
                done(vec![json!({"action": "restart", "component": target})], said, credit)
            }
            ("start_service", Some(at)) => {
                let start = json!({"action": "start_unit", "host": HOSTS[at], "unit": target});
                done(vec![start], format!("The unit of '{target}' was started."), 0.20)
            }
            ("scale_service", Some(at)) => {
                let replicas = 4 * REPLICAS[at];
                let scale = json!({"action": "scale", "component": target, "replicas": replicas});
                done(vec![scale], format!("'{target}' has {replicas} replicas."), 0.20)
            }
            ("rollback_service", Some(_)) => {
                let back = json!({"action": "rollback", "component": target});
                done(vec![back], format!("'{target}' was rolled back."), 0.20)
            }
            ("read_log", _) => {
                let of = self.worst(at);
                let logs = json!({
                    "action": "logs", "component": of, "minutes": 5, "severity": "warn", "limit": 5,
                });
                done(vec![logs], format!("{}\nlog of {of}:", self.statuses()), 0.09)
            }
            ("check_health", _) => done(Vec::new(), self.statuses(), 0.07),
            ("noop", _) => done(Vec::new(), "Nothing was done.".into(), 0.03),
            _ => {
                let said = match known {
                    true => format!("ERROR: there is no service '{}'.", short(target)),
                    false => format!(
                        "ERROR: unknown command '{}'; there are {}.",
                        short(command),
                        COMMANDS.join(", ")
                    ),
                };
                done(Vec::new(), said, 0.01)
            }
        }
    }

    /// The named component, else the one that does worst.
    fn worst(&self, at: Option<usize>) -> &'static str {
        let worst = self.health.iter().enumerate().max_by_key(|(at, health)| {
            // Of several the first one.
            (**health, std::cmp::Reverse(*at))
        });
        SERVICES[at.or(worst.map(|(at, _)| at)).unwrap_or(0)].component
    }

    fn statuses(&self) -> String {
        let each = SERVICES.iter().zip(&self.health);
        let each: Vec<_> =
            each.map(|(of, health)| format!("{}={}", of.component, status(*health))).collect();
        format!("status: {}", each.join(" "))
    }
}

/// What may be ordered. The original knows the restart, the looks and `noop`; the others are sound
/// ways that it turns down.
const COMMANDS: [&str; 7] = [
    "check_health",
    "noop",
    "read_log",
    "restart_service",
    "rollback_service",
    "scale_service",
    "start_service",
];
/// Hosts of the components, in their order.
const HOSTS: [&str; 3] = ["node-1", "node-2", "node-2"];
/// Replicas of the components, in their order.
const REPLICAS: [u32; 3] = [2, 1, 2];

fn log_lines(lines: &Value) -> String {
    let lines = lines.as_array().into_iter().flatten();
    let each = lines.map(|line| {
        let text = |name: &str| line[name].as_str().unwrap_or_default();
        format!("\n  {} {} {}", text("time"), text("severity"), text("message"))
    });
    each.collect()
}

fn short(word: &str) -> String {
    word.chars().take(60).collect()
}

/// Six decimals.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// The score of a grade without an episode.
pub(super) fn ungraded(task: &Task) -> Value {
    json!({
        "task_id": task.id, "grader_id": task.grader, "score": BOUNDS.0, "resolved": false,
        "steps": 0,
    })
}

impl Round {
    /// The grade of the episode.
    pub(super) fn grade(&self) -> Value {
        json!({
            "task_id": self.task.id, "grader_id": self.task.grader, "score": self.score(),
            "resolved": self.done && self.resolved(), "steps": self.steps,
            "episode_id": self.name,
        })
    }
}

/// Position of a task.
pub(super) fn position(task: &Task) -> usize {
    TASKS.iter().position(|one| one.id == task.id).unwrap_or(0)
}
