//! Steps and grades in words, for a person who looks back.

use crate::look::Seen;
use episode::{Grade, MICRO, Observation};
use model::{decimals, signed};
use std::fmt::Write;

/// Characters of a read's answer that are shown.
const DATA_SHOWN: usize = 160;

/// One thing that happened; `number` counts steps.
pub fn happened(number: u32, seen: &Seen) -> String {
    match seen {
        Seen::Control { at, order } => format!("\n{at}  control: {order}\n"),
        Seen::Step { from, action, observation, impact } => {
            let mut text = format!("\n{from}  step {number}: {action}\n");
            answer(&mut text, observation);
            state(&mut text, observation, *impact as f64 / MICRO);
            text
        }
    }
}

fn answer(text: &mut String, seen: &Observation) {
    let Some(result) = &seen.result else { return };
    let verdict = if result.ok { "ok" } else { "refused" };
    let message = if result.message.is_empty() { "answered" } else { &result.message };
    let _ = writeln!(text, "    {verdict}: {message}");
    if let Some(data) = &result.data {
        let data = data.to_string();
        let shown: String = data.chars().take(DATA_SHOWN).collect();
        let more = if shown.len() < data.len() { " …" } else { "" };
        let _ = writeln!(text, "    {shown}{more}");
    }
}

fn state(text: &mut String, seen: &Observation, impact: f64) {
    let firing = seen.alerts.iter().filter(|alert| alert.firing);
    let firing: Vec<_> = firing.map(|alert| alert.name.as_str()).collect();
    let firing = if firing.is_empty() { "no alerts".into() } else { firing.join(", ") };
    let objectives = seen.objectives.iter();
    let good: Vec<_> =
        objectives.map(|o| format!("{} {:.1} %", o.name, 100.0 * o.good_ratio)).collect();
    let _ = writeln!(text, "    {}: {firing}; good: {}", seen.time, good.join(", "));
    let _ = writeln!(text, "    {impact:.1} user-minutes lost so far");
}

/// A grade with its terms.
pub fn grade(grade: &Grade) -> String {
    let mut text = format!("score {}\n", decimals(grade.score, 3));
    for term in &grade.terms {
        let _ = writeln!(text, "  {}  {}: {}", signed(term.value, 3), term.name, term.reason);
    }
    let held = if grade.slo_held { "all objectives held" } else { "not all objectives held" };
    let _ = writeln!(
        text,
        "users lost {} user-minutes ({} if nobody had acted, {} with the reference); in the end \
         {held}",
        decimals(grade.impact, 1),
        decimals(grade.impact_noop, 1),
        decimals(grade.impact_reference, 1)
    );
    text
}
