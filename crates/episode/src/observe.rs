//! The observation: what the one on call sees after a step. Never the truth: objectives and impact
//! are monitoring's estimates, with their delay.

use crate::episode::Episode;
use crate::impact::MICRO;
use fleet::Fleet;
use machine::SnapshotError;
use model::{Digest, Tick};
use record::EndReason;
use scenario::resolved::AlertSeverity;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Alerts that ended this long ago are still listed, seconds.
const RECENT_S: i64 = 300;

/// What the agent gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Simulated time since the page, e.g. `t+00:05:30`.
    pub time: String,
    /// The same in seconds.
    pub seconds: i64,
    /// Steps taken.
    pub step: u32,
    /// Steps that are left.
    pub steps_left: u32,
    /// Seconds that are left.
    pub seconds_left: i64,
    /// Alerts that fire, and those that ended in the last five minutes.
    pub alerts: Vec<AlertView>,
    /// Objectives as monitoring measures them.
    pub objectives: Vec<ObjectiveView>,
    /// User-minutes lost since the page, as monitoring counts them (some seconds late).
    pub impact_estimate: f64,
    /// What the last action came to; absent in the first observation.
    pub result: Option<ActionResult>,
    /// The episode is over.
    pub done: bool,
    /// Why: `resolved`, `horizon`, `step_limit`, `abandoned`.
    pub done_reason: Option<String>,
}

/// One alert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlertView {
    /// Its name.
    pub name: String,
    /// `page` or `ticket`.
    pub severity: String,
    /// What it says.
    pub summary: String,
    /// Seconds since its condition began to hold.
    pub since_seconds: i64,
    /// It fires now; else it ended recently.
    pub firing: bool,
}

/// One objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveView {
    /// Its name.
    pub name: String,
    /// Share of requests that are to be good.
    pub objective: f64,
    /// Share that was, over the short window.
    pub good_ratio: f64,
    /// Burn rate over the short window.
    pub burn_fast: f64,
    /// Burn rate over the long window.
    pub burn_slow: f64,
}

/// What an action came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionResult {
    /// The action.
    pub action: String,
    /// Accepted; reads always are.
    pub ok: bool,
    /// One sentence.
    pub message: String,
    /// What a read found.
    pub data: Option<Value>,
}

impl Observation {
    /// Digest of all of it. What a read found enters in canonical form, since fields of JSON have
    /// no order.
    ///
    /// # Errors
    /// Never in practice: it can be encoded.
    pub fn digest(&self) -> Result<Digest, SnapshotError> {
        // No `..`: a new field has to be in it.
        let Observation {
            time,
            seconds,
            step,
            steps_left,
            seconds_left,
            alerts,
            objectives,
            impact_estimate,
            result,
            done,
            done_reason,
        } = self;
        let result = result.as_ref().map(|ActionResult { action, ok, message, data }| {
            (action, ok, message, data.as_ref().map(action::json::canonical))
        });
        let now = (time, seconds, step, steps_left, seconds_left);
        let seen = (alerts, objectives, impact_estimate);
        machine::digest("observation", &(now, seen, result, done, done_reason))
    }
}

impl<F: Fleet> Episode<F> {
    /// The present observation.
    pub fn observe(&self, result: Option<ActionResult>) -> Observation {
        let engine = &self.engine;
        let now = engine.tick;
        let timing = &self.scenario.timing;
        Observation {
            time: now.to_string(),
            seconds: now.0,
            step: engine.steps,
            steps_left: timing.step_limit.saturating_sub(engine.steps),
            seconds_left: timing.horizon.since(now).max(0),
            alerts: self.alerts(now),
            objectives: self.objectives(),
            impact_estimate: rounded(engine.estimated as f64 / MICRO),
            result,
            done: engine.end.is_some(),
            done_reason: engine.end.map(|end| end.word().to_string()),
        }
    }

    fn alerts(&self, now: Tick) -> Vec<AlertView> {
        let rules = self.scenario.alerts.iter().zip(&self.engine.watch.alarms);
        let listed = rules.filter(|(_, alarm)| {
            alarm.firing || alarm.ended.is_some_and(|ended| now.since(ended) <= RECENT_S)
        });
        listed
            .map(|(rule, alarm)| AlertView {
                name: rule.name.clone(),
                severity: match rule.severity {
                    AlertSeverity::Page => "page".into(),
                    AlertSeverity::Ticket => "ticket".into(),
                },
                summary: rule.summary.clone(),
                since_seconds: now.since(alarm.onset),
                firing: alarm.firing,
            })
            .collect()
    }

    fn objectives(&self) -> Vec<ObjectiveView> {
        let slos = self.scenario.slos.iter().zip(&self.engine.watch.burns);
        slos.map(|(slo, burn)| ObjectiveView {
            name: slo.name.clone(),
            objective: slo.objective,
            good_ratio: rounded(burn.ratio(burn.fast())),
            burn_fast: rounded(burn.burn(burn.fast())),
            burn_slow: rounded(burn.burn(burn.slow())),
        })
        .collect()
    }

    /// Whether every objective is met over its short window now.
    pub fn objectives_met(&self) -> bool {
        let slos = self.scenario.slos.iter().zip(&self.engine.watch.burns);
        slos.into_iter().all(|(slo, burn)| burn.ratio(burn.fast()) >= slo.objective)
    }

    /// Whether the page fires now.
    pub fn paging(&self) -> bool {
        let rules = self.scenario.alerts.iter().zip(&self.engine.watch.alarms);
        rules.into_iter().any(|(r, alarm)| r.severity == AlertSeverity::Page && alarm.firing)
    }
}

/// Four decimals are enough for a dashboard.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// The word of an end.
pub(crate) fn over(end: EndReason) -> &'static str {
    end.word()
}
