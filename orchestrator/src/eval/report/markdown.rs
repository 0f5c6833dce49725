//! The report for a repository or a pull request.

use super::{Report, decimals, percent, with_interval};
use crate::eval::stats::Summary;
use std::fmt::Write;

/// A line whose parts are cells.
fn row(to: &mut String, cells: &[String]) {
    let cells: Vec<_> = cells.iter().map(|cell| escaped(cell)).collect();
    let _ = writeln!(to, "| {} |", cells.join(" | "));
}

/// Names are chosen by others.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '|' | '\\' | '`' | '*' | '_' | '<' | '[' => escaped.extend(['\\', letter]),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

impl Report<'_> {
    /// Summary, scenarios and episodes as Markdown.
    pub fn markdown(&self) -> String {
        let plan = self.plan;
        let mut text = format!("# Evaluation of {}\n\n", escaped(&plan.agent));
        let _ = writeln!(
            text,
            "{} of {} episodes: {} scenarios × {} seeds × {} plays; mayday {}, world revision {}, \
             secret {}.\n",
            self.played(),
            self.wanted(),
            plan.scenarios.len(),
            plan.seeds.len(),
            plan.repeats,
            plan.version,
            plan.world_revision,
            plan.secret
        );
        self.summaries(&mut text);
        text.push('\n');
        self.episodes(&mut text);
        text.push('\n');
        for note in self.notes() {
            let _ = writeln!(text, "- {note}");
        }
        text
    }

    fn summaries(&self, text: &mut String) {
        let (k, passes_k) = (format!("pass^{}", self.plan.repeats), self.plan.repeats > 1);
        let header = ["", "episodes", "pass@1", &k, "score (95 %)", "impact", "steps", "minutes"];
        let mut header = header.map(String::from).to_vec();
        header.retain(|name| passes_k || *name != k);
        row(text, &header);
        let _ = writeln!(text, "|---|{}", "--:|".repeat(header.len() - 1));
        let cells = |name: &str, of: &Summary| {
            let mut cells = vec![name.to_string(), of.episodes.to_string(), percent(of.pass_at_1)];
            cells.extend(passes_k.then(|| percent(self.pass_hat(of))));
            cells.extend([
                with_interval(of.score),
                decimals(of.impact, 1),
                decimals(of.steps, 1),
                decimals(of.minutes, 1),
            ]);
            cells
        };
        for (name, of) in &self.groups {
            row(text, &cells(name, of));
        }
        for (subject, of) in &self.scenarios {
            row(text, &cells(&subject.name, of));
        }
    }

    fn episodes(&self, text: &mut String) {
        let header = [
            "scenario",
            "seed",
            "play",
            "score",
            "impact",
            "of nobody",
            "end",
            "steps",
            "world seed",
        ];
        row(text, &header.map(String::from));
        text.push_str("|---|--:|--:|--:|--:|--:|---|--:|--:|\n");
        for one in &self.rows {
            let assessment = &one.assessment;
            let mark = if assessment.score >= self.pass { "" } else { " ✗" };
            row(
                text,
                &[
                    one.job.scenario.clone(),
                    one.job.seed.to_string(),
                    (one.job.repeat + 1).to_string(),
                    format!("{:.3}{mark}", assessment.score),
                    format!("{:.1}", assessment.impact),
                    format!("{:.1}", assessment.impact_noop),
                    assessment.end.words().to_string(),
                    assessment.steps.to_string(),
                    assessment.world_seed.to_string(),
                ],
            );
        }
    }
}
