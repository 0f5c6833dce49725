//! One episode of the Production Incident Response Simulator, and what its steps pay.
//!
//! A step takes [`STEP_S`] simulated seconds. It is *correct* where a goal of the task holds after
//! it that had not held before (in order, where the task asks for order), whatever brought that
//! about; any other step is wrong. The episode is over when every goal was met and every component
//! is healthy, or at the step limit.

use super::figures::{Figures, figures};
use super::tasks::{Goal, NARROW, SERVICES, Task, actions, is_recognised, is_valid};
use crate::stage::{Health, Play, Stage, Trouble};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Simulated seconds of one step: a rollback has been rolled out, and queues have drained.
pub(super) const STEP_S: u32 = 150;
/// What all goals together are worth, and meeting the last one.
const GOALS: f64 = 0.80;
const COMPLETE: f64 = 0.20;
/// What a step costs, and what one costs that met no goal.
const STEP: f64 = 0.02;
const WRONG: f64 = 0.12;
/// What a step more than there are goals costs the score.
const EXTRA: f64 = 0.05;
/// Most log lines that are shown.
const LOGS_MAX: usize = 20;
/// The world's seed.
const SEED: u64 = 42;

/// An episode of a session.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) task: &'static Task,
    play: Play,
    figures: bool,
    health: Vec<Health>,
    /// Replicas that serve, of each component.
    running: Vec<f64>,
    logs: Vec<String>,
    steps: u32,
    correct: u32,
    wrong: u32,
    met: Vec<bool>,
    pub(super) done: bool,
}

/// What a step is answered with.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) reward: f64,
    pub(super) info: Value,
}

impl Round {
    pub(super) async fn begin(stage: &Arc<Stage>, task: &'static Task) -> Result<Round, Trouble> {
        let play = stage.begin(task.scenario, SEED).await?;
        let mut round = Round {
            task,
            play,
            figures: stage.figures(),
            health: Vec::new(),
            running: Vec::new(),
            logs: task.logs.iter().map(ToString::to_string).collect(),
            steps: 0,
            correct: 0,
            wrong: 0,
            met: vec![false; task.goals.len()],
            done: false,
        };
        round.look().await?;
        Ok(round)
    }

    async fn look(&mut self) -> Result<(), Trouble> {
        self.health = self.play.health(&SERVICES).await?;
        self.running.clear();
        for of in SERVICES {
            let [running] = self.play.signals(of.component, ["replicas.running"]).await?;
            self.running.push(running.unwrap_or(0.0));
        }
        Ok(())
    }

    fn holds(&self, goal: Goal) -> bool {
        let at = |name: &str| SERVICES.iter().position(|of| of.component == name).unwrap_or(0);
        match goal {
            Goal::Healthy(name) => self.health[at(name)] == Health::Healthy,
            Goal::Wider(name) => self.running[at(name)] > NARROW + 0.5,
        }
    }

    /// Credits the goals that hold by now; how many that are.
    fn credit(&mut self) -> u32 {
        let mut credited = 0;
        for at in 0..self.met.len() {
            if self.met[at] {
                continue;
            }
            if self.holds(self.task.goals[at]) {
                self.met[at] = true;
                credited += 1;
            } else if self.task.ordered {
                break;
            }
        }
        credited
    }

    /// Takes a step.
    pub(super) async fn step(&mut self, kind: &str, target: &str) -> Result<Turn, Trouble> {
        let told = self.play.turn(actions(kind, target), STEP_S).await?;
        self.look().await?;
        self.steps += 1;
        let refused = told.iter().find(|result| !result.ok).map(|result| result.message.clone());
        let line = told.iter().rev().find_map(|result| newest(result.data.as_ref()?));
        self.logs.push(log_line(kind, target, refused.or(line)));
        let before = self.complete();
        let credited = self.credit();
        self.correct += credited;
        if credited == 0 {
            self.wrong += 1;
        }
        let healthy = self.health.iter().all(|health| *health == Health::Healthy);
        self.done = (self.complete() && healthy) || self.steps >= self.task.steps_max;
        if self.done {
            self.play.resolve().await?;
        }
        let earned = match (credited, !before && self.complete()) {
            (0, _) => -WRONG,
            (n, true) => f64::from(n) * self.bonus() + COMPLETE,
            (n, false) => f64::from(n) * self.bonus(),
        };
        let info = json!({
            "grader_summary": self.summary(),
            "action_valid": is_valid(kind),
            "action_recognised": is_recognised(kind, target),
            "step": self.steps,
        });
        Ok(Turn { reward: rounded(earned - STEP), info })
    }

    fn complete(&self) -> bool {
        self.met.iter().all(|met| *met)
    }

    fn bonus(&self) -> f64 {
        GOALS / self.task.goals.len() as f64
    }

    fn extra(&self) -> u32 {
        self.steps.saturating_sub(self.task.goals.len() as u32)
    }

    /// The score so far.
    pub(super) fn score(&self) -> f64 {
        let complete = if self.complete() { COMPLETE } else { 0.0 };
        let earned = f64::from(self.correct) * self.bonus() + complete;
        let lost = EXTRA * f64::from(self.extra()) + WRONG * f64::from(self.wrong);
        rounded((earned - lost).clamp(0.0, 1.0))
    }

    /// Whether it is over and went well.
    pub(super) fn solved(&self) -> bool {
        self.done && self.score() >= 0.95
    }

    fn summary(&self) -> Value {
        let required = self.task.goals.len();
        let percent = 100 * self.correct as usize / required;
        json!({
            "final_score": self.score(),
            "correct_actions": self.correct,
            "total_actions": self.steps,
            "required_actions": required,
            "wrong_actions": self.wrong,
            "extra_steps": self.extra(),
            "order_strict": self.task.ordered,
            "progress": format!("{} of {required} goals met ({percent} %)", self.correct),
            "is_complete": self.complete(),
            "per_action_bonus": rounded(self.bonus()),
            "completion_bonus": if self.complete() { COMPLETE } else { 0.0 },
        })
    }

    /// What is seen.
    pub(super) fn observation(&self) -> Value {
        let Task { id, name, story, hint, .. } = self.task;
        let at = |name: &&str| SERVICES.iter().position(|of| of.component == *name);
        let shown: Vec<_> = self.task.shown.iter().filter_map(at).collect();
        let services: Vec<_> = shown.iter().map(|at| self.service(*at)).collect();
        let alerts: Vec<_> = shown.iter().filter_map(|at| self.alert(*at)).collect();
        let dependencies: Map<_, _> = self.task.dependencies.iter().map(depends).collect();
        let from = self.logs.len().saturating_sub(LOGS_MAX);
        json!({
            "task_id": id,
            "task_name": name,
            "difficulty": id,
            "scenario": story,
            "hint": hint,
            "services": services,
            "logs": self.logs[from..],
            "alerts": alerts,
            "dependencies": dependencies,
            "business_impact": self.impact(),
            "step_number": self.steps,
            "max_steps": self.task.steps_max,
            "done": self.done,
            "score_so_far": self.score(),
        })
    }

    fn figures(&self, at: usize) -> Figures {
        match self.figures {
            true => figures(self.task.id, at, &self.health),
            false => Figures::default(),
        }
    }

    fn service(&self, at: usize) -> Value {
        let Figures { cpu, memory, errors, latency_ms, rps } = self.figures(at);
        json!({
            "name": SERVICES[at].component,
            "status": word(self.health[at]),
            "cpu": cpu,
            "memory": memory,
            "error_rate": errors,
            "latency_ms": latency_ms,
            "request_rate": rps,
        })
    }

    fn alert(&self, at: usize) -> Option<Value> {
        let name = SERVICES[at].component;
        let (severity, message) = match self.health[at] {
            Health::Healthy => return None,
            Health::Down => ("critical", format!("{name} does not serve")),
            Health::Degraded => {
                let Figures { cpu, errors, latency_ms, .. } = self.figures(at);
                let errors = 100.0 * errors;
                let text = format!(
                    "{name} serves badly: {errors:.0} % errors, {latency_ms} ms, CPU {cpu:.0} %"
                );
                ("warning", text)
            }
        };
        // Simulated time since the page: a wall clock would make no two episodes alike.
        let minutes = self.steps * STEP_S / 60;
        let seconds = self.steps * STEP_S % 60;
        let timestamp = format!("{:02}:{:02}:{seconds:02}", minutes / 60, minutes % 60);
        Some(json!({
            "severity": severity, "message": message, "service": name, "timestamp": timestamp,
        }))
    }

    fn impact(&self) -> Value {
        let count = |wanted| self.health.iter().filter(|health| **health == wanted).count() as f64;
        let harm = (count(Health::Down) + 0.5 * count(Health::Degraded)) / SERVICES.len() as f64;
        let of = self.task.impact;
        if harm == 0.0 {
            return impact(0, 0, 999);
        }
        let share = |most: u32, share: f64| (f64::from(most) * share + 1e-9) as u32;
        impact(share(of.users, harm), share(of.revenue, harm), share(of.sla_minutes, 1.0 - harm))
    }
}

fn impact(users: u32, revenue: u32, minutes: u32) -> Value {
    json!({
        "users_affected": users, "revenue_at_risk_per_min": revenue, "sla_breach_in_min": minutes,
    })
}

fn depends((of, on): &(&str, &[&str])) -> (String, Value) {
    (of.to_string(), json!(on))
}

fn word(health: Health) -> &'static str {
    match health {
        Health::Healthy => "healthy",
        Health::Degraded => "degraded",
        Health::Down => "down",
    }
}

/// The newest of some log lines.
fn newest(lines: &Value) -> Option<String> {
    Some(lines.as_array()?.last()?["message"].as_str()?.to_string())
}

/// What the log says of an action.
fn log_line(kind: &str, target: &str, more: Option<String>) -> String {
    let short = |word: &str| word.chars().take(60).collect::<String>();
    let (kind, target) = (short(kind), short(target));
    match (kind.as_str(), more) {
        ("check_logs", Some(line)) => format!("[DIAGNOSTIC]  {target}: {line}"),
        ("check_logs", None) => format!("[DIAGNOSTIC]  {target}: nothing of note"),
        (_, Some(refused)) => format!("[REFUSED]     {kind} {target}: {refused}"),
        (_, None) if actions(&kind, &target).is_empty() => {
            format!("[REFUSED]     {kind} {target}: there is no such action or target")
        }
        (_, None) => format!("[REMEDIATION] {kind} {target}: ordered"),
    }
}

/// Four decimals.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
