//! Log lines, rendered from history when asked: the same lines for the same tick, whenever asked.
//! A tick writes at most a few lines; what they stand for is said in them.

use crate::health;
use crate::keys::{self, EdgeKey};
use crate::plan::hostname;
use crate::signals;
use machine::Past;
use model::{LogLine, Noise, Query, Setup, Severity, Tick};
use telemetry::Levels;

/// The words a kind has for its own failures.
pub trait Phrases {
    /// Why a request failed here by itself, in the words of the component's log; `levels` tells
    /// apart what can.
    fn own_error(&self, levels: &Levels) -> String;

    /// Lines of its own about one tick: severity and text.
    fn more(&self, _row: &[f64], _levels: &Levels, _lines: &mut Vec<(Severity, String)>) {}
}

/// The lines of [`Query::Logs`], newest last.
pub fn logs(setup: &Setup, phrases: &dyn Phrases, past: &Past<'_>, query: &Query) -> Vec<LogLine> {
    let Query::Logs { from, to, severity, contains, limit } = query else {
        return Vec::new();
    };
    let from = (*from).max(past.history.start());
    let mut lines = Vec::new();
    let mut tick = (*to).min(past.history.end());
    // Newest first, so that a long window costs no more than what is wanted of it.
    while tick > from && lines.len() < *limit as usize {
        tick = tick.plus(-1);
        let mut of_tick = tick_lines(setup, phrases, past, tick);
        of_tick.retain(|l| l.severity >= *severity && l.message.contains(contains.as_str()));
        of_tick.reverse();
        lines.extend(of_tick);
    }
    lines.truncate(*limit as usize);
    lines.reverse();
    lines
}

fn tick_lines(setup: &Setup, phrases: &dyn Phrases, past: &Past<'_>, tick: Tick) -> Vec<LogLine> {
    let row = past.history.row(tick);
    let levels = past.history.levels(tick);
    let noise = past.noise.branch("logs");
    let mut lines: Vec<(Severity, String)> = Vec::new();
    for change in past.history.changes().iter().filter(|c| c.tick == tick) {
        if !change.note.is_empty() {
            lines.push((Severity::Info, change.note.clone()));
        }
    }
    // Nobody is there to write of requests while nothing runs.
    let offered = if running(setup, &levels) > 0.0 { row[signals::OFFERED] } else { 0.0 };
    let count = |share: f64, label: &str| expected(noise.branch(label), tick, offered * share);
    let refused = count(row[signals::REFUSED], "refused");
    if refused > 0 {
        let text = format!("request rejected: queue is full ({refused} in this second)");
        lines.push((Severity::Warn, text));
    }
    let own = own_error_share(setup, &levels);
    let failed = count(own, "own");
    if failed > 0 {
        let text = format!("{} ({failed} in this second)", phrases.own_error(&levels));
        lines.push((Severity::Error, text));
    }
    for (k, callee) in setup.callees.iter().enumerate() {
        let failed = row[signals::first(k)];
        if count(failed, callee) > 0 {
            lines.push((Severity::Warn, edge_line(setup, &levels, k, callee, failed)));
        }
    }
    if running(setup, &levels) > 0.0 {
        phrases.more(&row, &levels, &mut lines);
    }
    let groups = &setup.spec.groups;
    let replica = |at: usize| {
        let group = &groups[at % groups.len().max(1)];
        let n = noise.index(at as u64).bits(tick.0) % u64::from(group.replicas.max(1));
        format!("{}-{}-{n}", setup.spec.name, group.name)
    };
    let line = |(at, (severity, message))| LogLine {
        tick,
        severity,
        replica: replica(at),
        message,
        trace: 0,
    };
    let of_tick = past.history.changes().iter().filter(|c| c.tick == tick);
    let probed = of_tick.filter_map(|change| health::line(setup, &levels, change));
    probed.chain(lines.into_iter().enumerate().map(line)).collect()
}

/// A count with this mean: its whole part, and one more as often as the fraction says.
fn expected(noise: Noise, tick: Tick, mean: f64) -> u64 {
    if mean < 1e-6 {
        return 0;
    }
    mean as u64 + u64::from(noise.unit(tick.0) < mean.fract())
}

/// Replicas that take requests.
fn running(setup: &Setup, levels: &Levels) -> f64 {
    let groups = setup.spec.groups.len() as u16;
    (0..groups).map(|g| levels.get(keys::RUNNING + g, 0.0)).sum()
}

fn own_error_share(setup: &Setup, levels: &Levels) -> f64 {
    let groups = setup.spec.groups.len() as u16;
    let (mut all, mut wrong) = (0.0, 0.0);
    for g in 0..groups {
        let running = levels.get(keys::RUNNING + g, 0.0);
        all += running;
        wrong += running * levels.get(keys::GROUP_ERROR + g, 0.0);
    }
    let of_groups = if all > 0.0 { wrong / all } else { 0.0 };
    let classes = setup.classes.len().max(1) as u16;
    let of_classes: f64 = (0..classes).map(|c| levels.get(keys::CLASS_ERROR + c, 0.0)).sum::<f64>()
        / f64::from(classes);
    of_groups + of_classes - of_groups * of_classes
}

fn edge_line(setup: &Setup, levels: &Levels, k: usize, callee: &str, failed: f64) -> String {
    let level = |key: EdgeKey, default: f64| levels.get(keys::edge(k, key), default);
    let policy = &setup.outgoing[k].policy;
    let share = format!("{:.1} % of calls in this second", 100.0 * failed);
    if level(EdgeKey::Passed, 1.0) < 0.5 {
        return format!("circuit breaker towards {callee} is open, calls are not made");
    }
    if level(EdgeKey::NoConnection, 0.0) > 0.01 {
        return format!("timed out waiting for a connection to {callee} ({share})");
    }
    if level(EdgeKey::NameMissing, 0.0) > 0.0 {
        let name = hostname(setup, k);
        return format!("call to {callee} failed: lookup {name}: no such host ({share})");
    }
    if level(EdgeKey::Abort, 0.0) > 0.0 {
        return format!("connection to {callee} reset by peer ({share})");
    }
    let timeout_ms = 1000.0 * level(EdgeKey::Timeout, policy.timeout_s);
    let attempts = level(EdgeKey::Retries, f64::from(policy.retries)) + 1.0;
    format!(
        "call to {callee} failed or exceeded its deadline of {timeout_ms:.0} ms, up to {attempts} \
         attempts ({share})"
    )
}
