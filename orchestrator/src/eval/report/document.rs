//! The report for programs.

use super::Report;
use crate::eval::journal::Row;
use crate::eval::stats::{RESAMPLES, Summary};
use serde_json::{Value, json};

impl Report<'_> {
    /// Everything, as JSON.
    pub fn json(&self) -> Value {
        let plan = self.plan;
        let value = |of: &Summary| serde_json::to_value(of).unwrap_or_default();
        let groups = self.groups.iter().map(|(name, of)| (name.to_string(), value(of)));
        let scenarios = self.scenarios.iter().map(|(subject, of)| {
            let mut shown = json!({
                "scenario": subject.name,
                "title": subject.title,
                "healthy": subject.healthy,
                "hash": subject.hash,
            });
            shown["summary"] = value(of);
            shown
        });
        let failed = self.failed.iter().map(|(job, error)| {
            json!({
                "scenario": job.scenario, "seed": job.seed, "repeat": job.repeat, "error": error,
            })
        });
        json!({
            "mayday": plan.version,
            "world_revision": plan.world_revision,
            "agent": plan.agent,
            "command": plan.command,
            "deadline_s": plan.deadline_s,
            "secret": plan.secret,
            "seeds": plan.seeds,
            "repeats": plan.repeats,
            "pass": self.pass,
            "bootstrap": {"resamples": RESAMPLES, "over": "worlds", "level": 0.95},
            "complete": self.is_complete(),
            "episodes_wanted": self.wanted(),
            "summary": Value::Object(groups.collect()),
            "scenarios": scenarios.collect::<Vec<_>>(),
            "episodes": self.rows.iter().map(|row| self.episode(row)).collect::<Vec<_>>(),
            "failed": failed.collect::<Vec<_>>(),
        })
    }

    fn episode(&self, row: &Row) -> Value {
        let mut episode = serde_json::to_value(&row.assessment).unwrap_or_default();
        let job = &row.job;
        let own = json!({
            "scenario": job.scenario,
            "seed": job.seed,
            "repeat": job.repeat,
            "healthy": self.plan.subject(&job.scenario).is_some_and(|s| s.healthy),
            "passed": row.assessment.score >= self.pass,
            "later_resets": row.later_resets,
            "reruns": row.reruns,
            "command": row.command,
            "log": row.log,
        });
        if let (Value::Object(all), Value::Object(own)) = (&mut episode, own) {
            all.extend(own);
        }
        episode
    }
}
