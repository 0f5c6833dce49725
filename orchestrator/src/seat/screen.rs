//! What is shown: the page, what each action came to, and what changed while it took its time.

use action::{ActionClass, help};
use episode::{AlertView, Observation};
use serde_json::Value;
use std::fmt::Write;

use super::line::LOCAL;

/// Heights of a series, lowest first.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Points of a series that are shown.
const POINTS_SHOWN: usize = 40;

/// Colors, where a person looks at a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Paint(pub bool);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_string() }
    }

    fn bad(self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    fn faint(self, text: &str) -> String {
        self.with("2", text)
    }
}

/// The page: what fires when the episode begins.
pub fn page(seen: &Observation, paint: Paint) -> String {
    let mut text = String::new();
    for alert in seen.alerts.iter().filter(|alert| alert.firing) {
        let _ = writeln!(text, "{}", fires(alert, paint));
    }
    state(&mut text, seen, paint);
    let _ = writeln!(
        text,
        "{}",
        paint.faint("`help` lists what you can do; `topology` and `status` are a start.")
    );
    text
}

/// What an action came to, and what changed since `before`.
pub fn step(before: &Observation, seen: &Observation, paint: Paint) -> String {
    let mut text = String::new();
    if let Some(result) = &seen.result {
        if !result.message.is_empty() {
            let message =
                if result.ok { result.message.clone() } else { paint.bad(&result.message) };
            let _ = writeln!(text, "{message}");
        }
        if let Some(data) = &result.data {
            text += &answer(data);
        }
    }
    changed(&mut text, before, seen, paint);
    state(&mut text, seen, paint);
    text
}

/// Alerts that fire, those that ended, and how the objectives stand.
pub fn alerts(seen: &Observation, paint: Paint) -> String {
    let mut text = String::new();
    for alert in &seen.alerts {
        let line = if alert.firing { fires(alert, paint) } else { cleared(alert, paint) };
        let _ = writeln!(text, "{line}");
    }
    if seen.alerts.is_empty() {
        text += "nothing fires\n";
    }
    state(&mut text, seen, paint);
    text
}

fn fires(alert: &AlertView, paint: Paint) -> String {
    let title = format!("FIRING {} {}", alert.severity, alert.name);
    let title = if alert.severity == "page" { paint.bad(&title) } else { title };
    format!("{title}: {} (for {} s)", alert.summary, alert.since_seconds)
}

fn cleared(alert: &AlertView, paint: Paint) -> String {
    paint.good(&format!("cleared {} {}", alert.severity, alert.name))
}

/// Alerts that fire or ended since.
fn changed(text: &mut String, before: &Observation, seen: &Observation, paint: Paint) {
    let fired = |seen: &Observation, name: &str| {
        seen.alerts.iter().any(|alert| alert.name == name && alert.firing)
    };
    for alert in &seen.alerts {
        let line = match (fired(before, &alert.name), alert.firing) {
            (false, true) => fires(alert, paint),
            (true, false) => cleared(alert, paint),
            _ => continue,
        };
        let _ = writeln!(text, "{line}");
    }
}

/// The clock, the objectives, and what it costs.
fn state(text: &mut String, seen: &Observation, paint: Paint) {
    let good = seen.objectives.iter().map(|objective| {
        let share = format!("{} {:.1} %", objective.name, 100.0 * objective.good_ratio);
        match objective.good_ratio >= objective.objective {
            true => paint.good(&share),
            false => paint.bad(&share),
        }
    });
    let good = good.collect::<Vec<_>>().join(", ");
    let firing = seen.alerts.iter().filter(|alert| alert.firing).count();
    let alerts = match firing {
        0 => "no alert".to_string(),
        1 => "1 alert".to_string(),
        n => format!("{n} alerts"),
    };
    let clock = format!(
        "[{} tick {}, step {}, {} s and {} steps left]",
        seen.time, seen.seconds, seen.step, seen.seconds_left, seen.steps_left
    );
    let _ = writeln!(
        text,
        "{} {alerts}; good: {good}; about {:.1} user-minutes lost",
        paint.faint(&clock),
        seen.impact_estimate
    );
}

/// The answer to a read, in lines.
pub fn answer(data: &Value) -> String {
    match data {
        Value::Object(fields) if fields.contains_key("exit_code") => terminal(data),
        Value::Object(fields) if fields.contains_key("signals") && fields.contains_key("from") => {
            metrics(data)
        }
        Value::Object(fields) if fields.contains_key("components") => topology(data),
        Value::Object(fields) if fields.values().all(Value::is_string) => {
            let width = fields.keys().map(|key| key.chars().count()).max().unwrap_or(0);
            let line = |(key, value)| format!("{key:<width$}  {}\n", word(value));
            fields.iter().map(line).collect()
        }
        Value::Object(fields) if fields.values().all(Value::is_object) => {
            let part = |(key, value)| format!("{key}\n{}", indented(&answer(value)));
            fields.iter().map(part).collect()
        }
        Value::Array(rows) if rows.is_empty() => "nothing\n".into(),
        Value::Array(rows) => rows.iter().map(row).collect(),
        other => format!("{other:#}\n"),
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// A value as a word.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

/// A log line, a change, a trace, or anything else with fields.
fn row(row: &Value) -> String {
    let field = |name: &str| row.get(name).map(word).unwrap_or_default();
    if row.get("spans").is_some() {
        let mut text = format!(
            "{}  {}  {} in {} s  trace {}\n",
            field("time"),
            field("class"),
            field("status"),
            field("seconds"),
            field("trace")
        );
        for span in row["spans"].as_array().into_iter().flatten() {
            let of = |name: &str| span.get(name).map(word).unwrap_or_default();
            let _ = writeln!(
                text,
                "    {:>8} s +{} s  {} {} {} {} {}",
                of("start_seconds"),
                of("seconds"),
                of("component"),
                of("operation"),
                of("kind"),
                of("status"),
                of("message")
            );
        }
        return text;
    }
    let words = match row {
        Value::Object(_) if row.get("message").is_some() => {
            vec![field("time"), field("severity"), field("replica"), field("message")]
        }
        Value::Object(_) if row.get("change").is_some() => {
            vec![field("time"), field("component"), field("change")]
        }
        Value::Array(parts) => parts.iter().map(word).collect(),
        other => vec![word(other)],
    };
    words.join("  ") + "\n"
}

fn terminal(data: &Value) -> String {
    let mut text = String::new();
    for stream in ["stdout", "stderr"] {
        let said = data[stream].as_str().unwrap_or_default();
        text += said;
        if !said.is_empty() && !said.ends_with('\n') {
            text.push('\n');
        }
    }
    match data["exit_code"].as_i64() {
        Some(0) | None => text,
        Some(code) => text + &format!("(exit code {code})\n"),
    }
}

fn metrics(data: &Value) -> String {
    let mut text = String::new();
    let signals = data["signals"].as_object().into_iter().flatten();
    let width = signals.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, series) in signals {
        let points = series["points"].as_array().into_iter().flatten();
        let points: Vec<f64> = points.filter_map(Value::as_f64).collect();
        let Some(last) = points.last() else { continue };
        let least = points.iter().copied().fold(f64::INFINITY, f64::min);
        let most = points.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let unit = word(&series["unit"]);
        let unit = if unit == "1" { String::new() } else { format!(" {unit}") };
        let _ = writeln!(
            text,
            "{name:<width$}  {}  now {}{unit}, {} to {}",
            bars(&points, least, most),
            number(*last),
            number(least),
            number(most)
        );
    }
    let (from, to) = (word(&data["from"]), word(&data["to"]));
    let every = word(&data["seconds_between_points"]);
    text + &format!("from {from} to {to}, a point every {every} s\n")
}

fn bars(points: &[f64], least: f64, most: f64) -> String {
    let step = points.len().div_ceil(POINTS_SHOWN).max(1);
    let height = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        let share = if most > least { (mean - least) / (most - least) } else { 0.0 };
        BARS[((share * 7.999) as usize).min(7)]
    };
    points.chunks(step).map(height).collect()
}

/// Three digits that say something.
fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        medium if medium >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

fn topology(data: &Value) -> String {
    let list = |name: &str| data[name].as_array().cloned().unwrap_or_default();
    let mut text = String::from("components\n");
    for component in list("components") {
        let groups = component["groups"].as_array().into_iter().flatten();
        let groups: Vec<_> =
            groups.map(|g| format!("{} on {}", word(&g["group"]), word(&g["host"]))).collect();
        let (name, kind) = (word(&component["name"]), word(&component["kind"]));
        let _ = writeln!(text, "  {name} ({kind}) {}", groups.join(", "));
    }
    text += "calls\n";
    for edge in list("edges") {
        let (from, to) = (word(&edge["from"]), word(&edge["to"]));
        let _ = writeln!(text, "  {from} -> {to} {}", word(&edge["operation"]));
    }
    text += "classes\n";
    for class in list("classes") {
        let (name, objective) = (word(&class["name"]), word(&class["objective_seconds"]));
        let _ = writeln!(text, "  {name} good within {objective} s");
    }
    for (at, name) in list("names").iter().enumerate() {
        if at == 0 {
            text += "names\n";
        }
        let (name, of) = (word(&name["name"]), word(&name["component"]));
        let _ = writeln!(text, "  {name} is {of}");
    }
    text
}

/// Help on everything.
pub fn help_all() -> String {
    let mut text = help::all();
    text += "Here:\n";
    for (name, what) in LOCAL {
        let _ = writeln!(text, "  {name} — {what}");
    }
    text += "\nArguments follow in any order that leaves no doubt, or as name=value; a signal may be\n\
             named by a part of it, an action by its beginning, and all of it may be JSON:\n\
             \x20 restart payment            scale payment 4           logs gateway timeout 10\n\
             \x20 metrics gateway latency    shed gateway 50%          $ df -h\n\
             \x20 {\"action\": \"restart\", \"component\": \"payment\"}\n";
    let reads = action::all().iter().filter(|spec| spec.class == ActionClass::Read).count();
    let _ = writeln!(text, "Each action takes simulated time, {reads} of them only to look.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_are_lines() {
        let logs = json!([{"time": "t+1", "severity": "WARN", "replica": "a-0", "message": "x y"}]);
        assert_eq!(answer(&logs), "t+1  WARN  a-0  x y\n");
        assert_eq!(
            answer(&json!({"queue": "3", "busy slots": "1"})),
            "busy slots  1\nqueue       3\n"
        );
        assert_eq!(answer(&json!({"a": {"q": "3"}})), "a\n  q  3\n");
        assert_eq!(answer(&json!([])), "nothing\n");
        let typed = json!({"stdout": "one", "stderr": "no\n", "exit_code": 2});
        assert_eq!(answer(&typed), "one\nno\n(exit code 2)\n");
        let series = json!({
            "from": "t-2", "to": "t+0", "seconds_between_points": 1,
            "signals": {"requests.rate": {"unit": "{request}/s", "points": [0.0, null, 200.0]}},
        });
        let text = answer(&series);
        assert!(
            text.starts_with("requests.rate  ▁█  now 200 {request}/s, 0.000 to 200\n"),
            "{text}"
        );
    }
}
