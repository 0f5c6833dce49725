//! The end: what it was, how it was graded, and what others would have made of it.

use crate::narrate;
use crate::play::Outcome;
use crate::report::table;
use episode::Grade;
use model::decimals;
use scenario::Scenario;
use std::fmt::Write;

/// The score with its terms, beside doing nothing and the reference.
pub fn show(
    scenario: &Scenario,
    ended: &str,
    own: &Grade,
    noop: &Outcome,
    best: &Outcome,
) -> String {
    let mut text = format!("\nThe episode is over: {ended}.\n\n{}\n", scenario.title);
    let _ = writeln!(text, "{}", scenario.summary);
    for cause in &scenario.truth.causes {
        let _ = writeln!(text, "  cause: {}", cause_text(scenario, cause));
    }
    for action in &scenario.truth.reference {
        let _ = writeln!(text, "  the reference does: {action}");
    }
    let _ = writeln!(text, "\n{}", compare(own, noop, best));
    text += &narrate::grade(own);
    text
}

fn cause_text(scenario: &Scenario, cause: &scenario::resolved::Cause) -> String {
    let name = |id: model::InstanceId| scenario.topology.instances[id.at()].name.as_str();
    let place = match cause.edge {
        Some(edge) => {
            let edge = &scenario.topology.edges[edge.at()];
            let from = edge.from.map_or("users", name);
            format!("{from} -> {}", name(edge.to))
        }
        None => cause.component.map_or("nowhere", name).to_string(),
    };
    format!("{place}, {}, since {}", cause.class.name(), cause.onset)
}

fn compare(own: &Grade, noop: &Outcome, best: &Outcome) -> comfy_table::Table {
    let mut table = table(&["", "you", "doing nothing", "reference"], 1);
    let row = |name: &str, of: [f64; 3], digits: usize| {
        let mut row = vec![name.to_string()];
        row.extend(of.iter().map(|value| decimals(*value, digits)));
        row
    };
    table.add_row(row("score", [own.score, noop.score, best.score], 3));
    let impact = [own.impact, noop.impact, best.impact];
    table.add_row(row("impact [user-min]", impact, 1));
    for term in &own.terms {
        let of = |outcome: &Outcome| {
            outcome.terms.iter().find(|t| t.name == term.name).map_or(0.0, |t| t.value)
        };
        table.add_row(row(&term.name, [term.value, of(noop), of(best)], 3));
    }
    table
}
