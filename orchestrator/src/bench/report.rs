//! The table of budgets, for the terminal and for the document.

use super::machine;
use super::worlds::Measured;
use std::fmt::Write as _;

/// All figures with their budgets.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Measured>,
}

impl Table {
    /// A table of these figures.
    pub fn new(rows: Vec<Measured>) -> Table {
        Table { rows }
    }

    /// As Markdown: machine, table, and what is missed.
    pub fn markdown(&self) -> String {
        let mut text = String::from(
            "# Performance\n\nWritten by `cargo xtask bench`; figures are of one run on one machine. \
             No test asserts a wall time.\n\n",
        );
        let _ = writeln!(text, "Machine: {}.", machine::describe());
        if let Some(load) = machine::load() {
            let _ = writeln!(text, "Load average when the run ended: {load:.1}.");
        }
        text += "\n| what | budget | measured | |\n|---|---|---|---|\n";
        for row in &self.rows {
            let verdict = if row.within() { "within" } else { "**missed**" };
            let verdict = if row.budget.is_some() { verdict } else { "" };
            let budget = row.budget.map_or("–".into(), |b| format!("≤ {}", row.show(b)));
            let value = row.show(row.value);
            let _ = writeln!(text, "| {} | {budget} | {value} | {verdict} |", row.what);
        }
        text += "\n## Where the time goes\n\n";
        for row in &self.rows {
            let _ = writeln!(text, "- {}: {}", row.what, row.note);
        }
        text
    }
}
