//! The table of budgets, for the terminal and for the document.

use super::agents::{AGENTS, Pace, REFERENCE_ROW};
use super::machine;
use super::worlds::Measured;
use std::fmt::Write as _;

fn introduction() -> String {
    format!(
        "# Performance

Written by `cargo xtask bench`. A section holds the figures of one run on one machine, this one's \
first. No test asserts a wall time.

Rows of steps: {AGENTS} agents over `/ws` at one `mayday serve`, one step in flight each, dense \
rewards, no records; client and server share the machine. Processor time is the server's alone, from \
`/proc`. The last row, if there is one, is the Python package `openenv` 0.10.0 with an environment \
that does nothing, in the same run, by the same client; the ratio is to it.
"
    )
}

const AGENTS_NOTE: &str = "
What a step costs without ticks is two system calls each way, frame and JSON, three changes of task
(socket, session, world), the digests of the engine and of the answer, and the look-up of the
baselines. Where ticks pass, they cost what the first table says, and the digest of the world once a
step: the states of all twelve components are folded as they are encoded. With many worlds a tick
costs about twice what it does in the first table, since none of them is in the processor's caches. A
read costs its answer. A reset of a seed that is new makes no baselines; its first step does.
";

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

    /// As a Markdown document. Sections of other machines in the document `before` stay as they
    /// are, after this machine's: figures of two machines say more than those of one.
    pub fn document(&self, before: &str) -> String {
        let mut text = introduction();
        text += &self.section();
        let own = heading(&machine::describe());
        for section in before.split("\n## ").skip(1) {
            let section = format!("\n## {}\n", section.trim_end());
            if section.starts_with("\n## On ") && !section.starts_with(&own) {
                text += &section;
            }
        }
        text += "\n## Where the time goes\n\n";
        for row in &self.rows {
            let _ = writeln!(text, "- {}: {}", row.what, row.note);
        }
        if !self.agents.is_empty() {
            text += AGENTS_NOTE;
        }
        text
    }

    /// What this machine did.
    fn section(&self) -> String {
        let mut text = heading(&machine::describe());
        if let Some(load) = machine::load() {
            let _ = writeln!(text, "\nLoad average when the run ended: {load:.1}.");
        }
        if !self.rows.is_empty() {
            text += "\n| what | budget | measured | |\n|---|---|---|---|\n";
        }
        for row in &self.rows {
            let verdict = if row.within() { "within" } else { "**missed**" };
            let verdict = if row.budget.is_some() { verdict } else { "" };
            let budget = row.budget.map_or("–".into(), |b| format!("≤ {}", row.show(b)));
            let value = row.show(row.value);
            let _ = writeln!(text, "| {} | {budget} | {value} | {verdict} |", row.what);
        }
        self.agents(&mut text);
        text
    }

    /// What agents' steps cost, if that was measured.
    fn agents(&self, text: &mut String) {
        if self.agents.is_empty() {
            return;
        }
        text.push_str(
            "\n| a step of | server CPU | budget | | of OpenEnv's | p50 | p99 | per second |\n\
             |---|---|---|---|---|---|---|---|\n",
        );
        let reference = self.agents.iter().find(|pace| pace.what == REFERENCE_ROW);
        for pace in &self.agents {
            let budget = pace.budget_us.map_or("–".into(), |budget| format!("≤ {budget:.0} µs"));
            let verdict = match (pace.budget_us, pace.within()) {
                (None, _) => "",
                (_, true) => "within",
                (_, false) => "**missed**",
            };
            let Pace { what, cpu_us, p50_ms, p99_ms, per_s, .. } = pace;
            let ratio =
                reference.map_or("–".into(), |other| format!("{:.2}", cpu_us / other.cpu_us));
            let _ = writeln!(
                text,
                "| {what} | {cpu_us:.0} µs | {budget} | {verdict} | {ratio} | {p50_ms:.2} ms \
                 | {p99_ms:.2} ms | {per_s:.0} |"
            );
        }
    }
}

fn heading(machine: &str) -> String {
    format!("\n## On {machine}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(value: f64) -> Table {
        let pace = |what: &str, cpu_us: f64| Pace {
            what: what.into(),
            cpu_us,
            budget_us: Some(30.0),
            per_s: 1.0,
            p50_ms: 1.0,
            p99_ms: 1.0,
        };
        Table::new(Vec::new(), vec![pace("a step", value), pace(REFERENCE_ROW, 100.0)])
    }

    #[test]
    fn other_machines_figures_stay_and_this_ones_are_replaced() {
        let elsewhere = "\n## On another machine\n\n| a step | 77 µs |\n";
        let first = format!("{}{elsewhere}", table(11.0).document(""));
        let second = table(22.0).document(&first);
        assert!(second.contains("| a step | 22 µs | ≤ 30 µs | within | 0.22 |"), "{second}");
        assert!(!second.contains("11 µs") && second.contains(elsewhere), "{second}");
        assert_eq!(second, table(22.0).document(&second), "writing again changes nothing");
        let slow = table(33.0).document("");
        assert!(slow.contains("| a step | 33 µs | ≤ 30 µs | **missed** | 0.33 |"), "{slow}");
    }
}
