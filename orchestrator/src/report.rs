//! What a batch came to, as tables for people and as one JSON document for programs.

use crate::agent::AgentSpec;
use crate::batch::{Ended, Results};
use crate::play::{Job, Outcome, RewardMode};
use crate::stats::Mean;
use comfy_table::{CellAlignment, ColumnConstraint, Table, presets};
use serde_json::{Value, json};

/// A table in the style of this program; the columns after the first `words` are numbers.
pub fn table(header: &[&str], words: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header(header.to_vec());
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_constraint(ColumnConstraint::ContentWidth);
        if at >= words {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A batch that was played.
#[derive(Debug)]
pub struct Report<'a> {
    jobs: &'a [Job],
    results: &'a Results,
}

impl<'a> Report<'a> {
    /// The report on these jobs.
    pub fn new(jobs: &'a [Job], results: &'a Results) -> Report<'a> {
        Report { jobs, results }
    }

    fn outcomes(&self) -> impl Iterator<Item = &'a Outcome> {
        self.results.ended.iter().filter_map(|ended| match ended {
            Ended::Over(outcome) => Some(&**outcome),
            _ => None,
        })
    }

    /// Jobs that failed, with why.
    pub fn failed(&self) -> impl Iterator<Item = (&'a Job, &'a str)> {
        self.jobs.iter().zip(&self.results.ended).filter_map(|(job, ended)| match ended {
            Ended::Failed(error) => Some((job, error.as_str())),
            _ => None,
        })
    }

    /// Jobs that were left or saved.
    pub fn open(&self) -> usize {
        let open = |ended: &&Ended| matches!(ended, Ended::Left | Ended::Saved);
        self.results.ended.iter().filter(open).count()
    }

    fn mean(&self, wanted: impl Fn(&Outcome) -> bool, of: fn(&Outcome) -> f64) -> Option<Mean> {
        let values: Vec<f64> = self.outcomes().filter(|o| wanted(o)).map(of).collect();
        Mean::of(&values)
    }

    fn agents(&self) -> Vec<&'static AgentSpec> {
        let mut agents: Vec<&'static AgentSpec> = Vec::new();
        for job in self.jobs {
            if !agents.contains(&job.agent) {
                agents.push(job.agent);
            }
        }
        agents
    }

    fn scenarios(&self) -> Vec<&'a str> {
        let mut scenarios: Vec<&str> = Vec::new();
        for job in self.jobs {
            if !scenarios.contains(&job.scenario.name.as_str()) {
                scenarios.push(&job.scenario.name);
            }
        }
        scenarios
    }

    /// One row per agent.
    pub fn by_agent(&self) -> Table {
        let header = ["agent", "faults", "healthy", "episodes", "impact [user-min]", "steps"];
        let mut table = table(&header, 1);
        for agent in self.agents() {
            let is = |o: &Outcome| o.agent == agent.name;
            let score = |o: &Outcome| o.score;
            table.add_row(vec![
                agent.name.to_string(),
                Mean::show(self.mean(|o| is(o) && !o.healthy, score), 3),
                Mean::show(self.mean(|o| is(o) && o.healthy, score), 3),
                self.outcomes().filter(|o| is(o)).count().to_string(),
                plain(self.mean(is, |o| o.impact)),
                plain(self.mean(is, |o| f64::from(o.steps))),
            ]);
        }
        table
    }

    /// One row per scenario, one column per agent.
    pub fn by_scenario(&self) -> Table {
        let agents = self.agents();
        let mut header = vec!["scenario"];
        header.extend(agents.iter().map(|agent| agent.name));
        let mut table = table(&header, 1);
        for scenario in self.scenarios() {
            let mut row = vec![scenario.to_string()];
            for agent in &agents {
                let is = |o: &Outcome| o.scenario == scenario && o.agent == agent.name;
                row.push(Mean::show(self.mean(is, |o| o.score), 3));
            }
            table.add_row(row);
        }
        table
    }

    /// Everything.
    pub fn json(&self, reward: RewardMode) -> Value {
        let agents = self.agents();
        let summary = agents.iter().map(|agent| {
            let is = |o: &Outcome| o.agent == agent.name;
            let score = |o: &Outcome| o.score;
            json!({
                "agent": agent.name,
                "episodes": self.outcomes().filter(|o| is(o)).count(),
                "faults": mean(self.mean(|o| is(o) && !o.healthy, score)),
                "healthy": mean(self.mean(|o| is(o) && o.healthy, score)),
                "impact": mean(self.mean(is, |o| o.impact)),
                "steps": mean(self.mean(is, |o| f64::from(o.steps))),
            })
        });
        let failed = self.failed().map(|(job, error)| {
            json!({
                "scenario": job.scenario.name,
                "seed": job.seed,
                "agent": job.agent.name,
                "episode": job.episode.to_string(),
                "error": error,
            })
        });
        json!({
            "mayday": env!("CARGO_PKG_VERSION"),
            "world_revision": record::WORLD_REVISION,
            "reward": reward,
            "complete": self.open() == 0 && self.failed().next().is_none(),
            "summary": summary.collect::<Vec<_>>(),
            "episodes": self.outcomes().collect::<Vec<_>>(),
            "failed": failed.collect::<Vec<_>>(),
        })
    }
}

fn plain(mean: Option<Mean>) -> String {
    mean.map_or("–".into(), |mean| format!("{:.1}", mean.mean))
}

fn mean(mean: Option<Mean>) -> Value {
    match mean {
        None => Value::Null,
        Some(Mean { count, mean, ci95 }) => json!({"count": count, "mean": mean, "ci95": ci95}),
    }
}
