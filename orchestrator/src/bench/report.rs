//! The table of budgets, for the terminal and for the document.

use super::agents::{AGENTS, Pace};
use super::machine;
use super::worlds::Measured;
use std::fmt::Write as _;

/// All figures with their budgets.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Measured>,
    agents: Vec<Pace>,
}

impl Table {
    /// A table of these figures.
    pub fn new(rows: Vec<Measured>, agents: Vec<Pace>) -> Table {
        Table { rows, agents }
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
        self.agents(&mut text);
        text += "\n## Where the time goes\n\n";
        for row in &self.rows {
            let _ = writeln!(text, "- {}: {}", row.what, row.note);
        }
        text
    }

    /// What agents' steps cost, if that was measured.
    fn agents(&self, text: &mut String) {
        if self.agents.is_empty() {
            return;
        }
        let _ = write!(
            text,
            "\n## Agents\n\n{AGENTS} agents over `/ws` at one `mayday serve`, one step in flight \
             each, dense rewards, no records; client and server share the machine. Processor time is \
             the server's alone, from `/proc`. The last row, if there is one, is the Python package \
             `openenv` 0.10.0 with an environment that does nothing, in the same run, by the same \
             client.\n\n| a step of | server CPU | budget | | p50 | p99 | per second |\n\
             |---|---|---|---|---|---|---|\n"
        );
        for pace in &self.agents {
            let budget = pace.budget_us.map_or("–".into(), |budget| format!("≤ {budget:.0} µs"));
            let verdict = match (pace.budget_us, pace.within()) {
                (None, _) => "",
                (_, true) => "within",
                (_, false) => "**missed**",
            };
            let Pace { what, cpu_us, p50_ms, p99_ms, per_s, .. } = pace;
            let _ = writeln!(
                text,
                "| {what} | {cpu_us:.0} µs | {budget} | {verdict} | {p50_ms:.2} ms | {p99_ms:.2} ms \
                 | {per_s:.0} |"
            );
        }
        text.push_str(
            "\nWhat a step costs without ticks is two system calls each way, frame and JSON, three \
             changes of task (socket, session, world), the digests of the engine and of the answer, \
             and the look-up of the baselines. Where ticks pass, they cost what the first table \
             says, and the digest of the world once a step: the states of all twelve components are \
             folded as they are encoded. With many worlds a tick costs more than in the first table, \
             since none of them is in the processor's caches. A read costs its answer. A reset of a \
             seed that is new makes no baselines; its first step does.\n",
        );
    }
}
