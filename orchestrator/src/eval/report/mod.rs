//! The report on an evaluation: one document for programs, one for a repository, one for a browser,
//! and a table for the terminal. Nothing in it depends on when, where, or in how many pieces the
//! evaluation was played.

mod chart;
mod document;
mod markdown;
mod page;

use super::journal::Row;
use super::plan::{Job, Plan, Subject};
use super::stats::{Estimate, Summary, summary};
use crate::failure::Failure;
use crate::report::table;
use comfy_table::Table;
use std::collections::BTreeMap;
use std::path::Path;

/// Files of a report, in the folder of the evaluation.
pub const FILES: [&str; 3] = ["report.json", "report.md", "report.html"];

/// The report.
#[derive(Debug)]
pub struct Report<'a> {
    plan: &'a Plan,
    /// In the order of scenarios, seeds and repeats.
    rows: Vec<&'a Row>,
    failed: &'a [(Job, String)],
    /// Score from which an episode passes.
    pass: f64,
    groups: [(&'static str, Summary); 3],
    scenarios: Vec<(&'a Subject, Summary)>,
}

impl<'a> Report<'a> {
    /// The report on these rows of a plan.
    pub fn new(
        plan: &'a Plan,
        rows: &'a BTreeMap<Job, Row>,
        failed: &'a [(Job, String)],
        pass: f64,
    ) -> Report<'a> {
        let each = plan.scenarios.iter();
        let healthy = |row: &Row| plan.subject(&row.job.scenario).is_some_and(|s| s.healthy);
        let groups = [
            ("faults", summary(rows.values().filter(|row| !healthy(row)), pass)),
            ("healthy", summary(rows.values().filter(|row| healthy(row)), pass)),
            ("all", summary(rows.values(), pass)),
        ];
        let of = |subject: &Subject| {
            summary(rows.values().filter(|row| row.job.scenario == subject.name), pass)
        };
        let scenarios = each.clone().map(|subject| (subject, of(subject))).collect();
        let rows = each.flat_map(|subject| {
            let seeds = plan.seeds.iter().flat_map(|seed| (0..plan.repeats).map(|r| (*seed, r)));
            let jobs = seeds.map(|(seed, repeat)| {
                let scenario = subject.name.clone();
                Job { scenario, seed, repeat }
            });
            jobs.filter_map(|job| rows.get(&job))
        });
        Report { plan, rows: rows.collect(), failed, pass, groups, scenarios }
    }

    /// Episodes that are to be played, in all.
    pub fn wanted(&self) -> usize {
        self.plan.scenarios.len() * self.plan.seeds.len() * self.plan.repeats as usize
    }

    /// Episodes that are played and graded.
    pub fn played(&self) -> usize {
        self.rows.len()
    }

    /// Whether all are.
    pub fn is_complete(&self) -> bool {
        self.played() == self.wanted()
    }

    /// Episodes that the agent never began.
    pub fn absent(&self) -> usize {
        let ends = &self.all().ends;
        ends.get(&super::outcome::Ending::Absent).copied().unwrap_or_default()
    }

    fn all(&self) -> &Summary {
        let [_, _, (_, all)] = &self.groups;
        all
    }

    /// For the terminal: faults, healthy and all, then the scenarios.
    pub fn table(&self) -> Table {
        let k = format!("pass^{}", self.plan.repeats);
        let mut header =
            vec!["", "episodes", "pass@1", &k, "score (95 %)", "impact [user-min]", "minutes"];
        let passes_k = self.plan.repeats > 1;
        header.retain(|name| passes_k || *name != k);
        let mut table = table(&header, 1);
        let scenarios = self.scenarios.iter().map(|(subject, of)| (subject.name.as_str(), of));
        let groups = self.groups.iter().map(|(name, of)| (*name, of));
        for (name, of) in groups.chain(scenarios) {
            let mut row = vec![name.to_string(), of.episodes.to_string(), percent(of.pass_at_1)];
            row.extend(passes_k.then(|| percent(self.pass_hat(of))));
            row.extend([with_interval(of.score), decimals(of.impact, 1), decimals(of.minutes, 1)]);
            table.add_row(row);
        }
        table
    }

    /// pass^k for as many plays as the plan has.
    fn pass_hat(&self, of: &Summary) -> Option<f64> {
        of.pass_hat.get(self.plan.repeats.checked_sub(1)? as usize).copied()
    }

    /// Writes all files; each is whole, or what it was before.
    ///
    /// # Errors
    /// Where one cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let json = format!("{:#}\n", self.json());
        for (name, text) in FILES.iter().zip([json, self.markdown(), self.page()]) {
            let (path, fresh) = (folder.join(name), folder.join(format!("{name}.new")));
            let written =
                std::fs::write(&fresh, text).and_then(|()| std::fs::rename(&fresh, &path));
            written.map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }

    /// What figures mean, one sentence each.
    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            format!("An episode passes with a score of {} or more.", self.pass),
            "pass@1 is the chance that one attempt passes, pass^k that k attempts at the same \
             world all pass; a world is a scenario with a seed."
                .into(),
            format!(
                "95 % intervals of the mean score by a bootstrap over worlds ({} resamples, its \
                 own fixed dice).",
                super::stats::RESAMPLES
            ),
            "Impact is what users did not get, in user-minutes, from the page to the end of the \
             tail. Minutes are simulated, from the page to the end of the agent's phase."
                .into(),
            "Only the first attempt counts. What is left unfinished is handed off at that tick \
             and graded; what the agent never began scores 0."
                .into(),
        ];
        let (absent, later) = (self.absent(), self.all().later_resets);
        let reruns: u32 = self.rows.iter().map(|row| row.reruns).sum();
        for (count, what) in [
            (absent as u64, "episodes were never begun by the agent"),
            (later, "resets came after the first attempt and did not count"),
            (reruns.into(), "attempts were spoiled by the simulator and played again"),
            (self.failed.len() as u64, "episodes could not be scored: the simulator failed"),
            ((self.wanted() - self.played()) as u64, "episodes are not played"),
        ] {
            if count > 0 {
                notes.push(format!("{count} {what}."));
            }
        }
        notes
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".into(), |share| format!("{:.1} %", share * 100.0))
}

fn decimals(value: Option<f64>, decimals: usize) -> String {
    value.map_or("–".into(), |value| format!("{value:.decimals$}"))
}

fn with_interval(estimate: Option<Estimate>) -> String {
    match estimate {
        None => "–".into(),
        Some(Estimate { mean, low: Some(low), high: Some(high) }) => {
            format!("{mean:.3} ({low:.3}–{high:.3})")
        }
        Some(Estimate { mean, .. }) => format!("{mean:.3}"),
    }
}

#[cfg(test)]
mod tests;
