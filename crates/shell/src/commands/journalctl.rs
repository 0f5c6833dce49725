//! `journalctl`: what units and the host said.

use super::Command;
use crate::call::{Call, Done, Stop};
use crate::options::Given;
use crate::clock::Date;
use crate::interpreter::Halt;
use crate::regular::{self, Flavor};
use crate::{show, units};
use model::{Answer, Query, Severity, Tick, UnitView};

pub(crate) const COMMAND: Command = Command {
    names: &["journalctl"],
    summary: "Query the journal",
    usage: "journalctl [-abefkqrx] [-u UNIT] [-n LINES] [-p PRIORITY] [-S \
         DATE] [-U DATE] [-g PATTERN] [--no-pager] [--disk-usage] \
         [--vacuum-size=BYTES] [--vacuum-time=TIME]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

const JOURNAL: &str = "/var/log/journal";
const LINES_MAX: u32 = 2000;

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
        ("unit", 'u'),
        ("lines", 'n'),
        ("no-pager", 'N'),
        ("pager-end", 'e'),
        ("reverse", 'r'),
        ("follow", 'f'),
        ("since", 'S'),
        ("until", 'U'),
        ("priority", 'p'),
        ("boot", 'b'),
        ("dmesg", 'k'),
        ("catalog", 'x'),
        ("quiet", 'q'),
        ("grep", 'g'),
        ("output", 'o'),
        ("disk-usage", 'D'),
        ("vacuum-size", 'Z'),
        ("vacuum-time", 'T'),
        ("vacuum-files", 'T'),
        ("rotate", 'R'),
        ("all", 'a'),
        ("full", 'l'),
        ("identifier", 't'),
    ];

async fn run(call: &mut Call<'_, '_>) -> Done {
    // A bare `-n` or `-b` has no value.
    let args = std::mem::take(&mut call.args);
    call.args = args
        .iter()
        .enumerate()
        .map(|(at, a)| {
            let next = args.get(at + 1).is_some_and(|n| n.parse::<u32>().is_ok() || n == "all");
            if a == "-n" && !next { "-n10".to_string() } else { a.clone() }
        })
        .collect();
    let given = call.options("u:n:erfS:U:p:bkxqg:o:alt:DZ:T:RN", LONG)?;
    let host = call.host().await?;
    if given.has('D') {
        let size = call.tree().await?.size(JOURNAL);
        let size = show::human(size);
        call.say(format!("Archived and active journals take up {size} in the file system."));
        return Ok(0);
    }
    if given.has('Z') || given.has('T') || given.has('R') {
        return vacuum(call, given.value('Z').map(str::to_string)).await;
    }
    let mut unit = None;
    if let Some(name) = given.value('u').or(given.value('t')) {
        unit = units::unit(&host, name).cloned();
        if unit.is_none() {
            call.say("-- No entries --");
            return Ok(0);
        }
    }
    let back = match given.value('S') {
        Some(text) => match ago(text, &host) {
            Some(back) => back,
            None => return call.fail(1, format!("Failed to parse timestamp: {text}")),
        },
        None => 3600,
    };
    let mut all = match given.has('k') {
        true => super::dmesg::lines(call).await?,
        false => lines(call, unit.as_ref(), back).await?,
    };
    choose(call, &given, &mut all)?;
    let most = most(call, &given)?;
    let skip = all.len().saturating_sub(most);
    all.drain(..skip);
    if given.has('r') {
        all.reverse();
    }
    if all.is_empty() {
        call.say("-- No entries --");
    }
    for line in all {
        call.say(line);
    }
    if given.has('f') {
        call.warn("journalctl: this terminal shows what is there and does not follow; \
             run it again for more");
    }
    Ok(0)
}

/// Keeps what is severe enough and matches.
fn choose(call: &mut Call<'_, '_>, given: &Given, all: &mut Vec<String>) -> Result<(), Stop> {
    const SEVERE: &[&str] = &["0", "1", "2", "3", "emerg", "alert", "crit", "err"];
    if let Some(text) = given.value('p') {
        let severe = SEVERE.contains(&text.rsplit("..").next().unwrap_or(text));
        let error = |line: &String| [" ERROR ", "failed", "ended"].iter().any(|w| line.contains(w));
        if severe {
            all.retain(error);
        } else if matches!(text, "4" | "warning") {
            all.retain(|line| line.contains(" WARN ") || error(line));
        }
    }
    if let Some(pattern) = given.value('g') {
        match regular::compile(pattern, Flavor::Extended, pattern.to_lowercase() == *pattern) {
            Ok(matcher) => all.retain(|line| matcher.is_match(line)),
            Err(reason) => return call.fail(1, reason),
        }
    }
    Ok(())
}

/// How many lines are wanted, from the end.
fn most(call: &mut Call<'_, '_>, given: &Given) -> Result<usize, Stop> {
    match given.value('n') {
        Some("all") => Ok(usize::MAX),
        Some(text) => match text.trim_start_matches('+').parse() {
            Ok(most) => Ok(most),
            Err(_) => call.fail(1, format!("Failed to parse lines '{text}'")),
        },
        None if given.has('f') => Ok(10),
        None if given.has('e') => Ok(1000),
        None => Ok(usize::MAX),
    }
}

/// Lines of one unit, or of the whole host, of the last seconds, oldest first.
pub(super) async fn lines(
    call: &mut Call<'_, '_>,
    unit: Option<&UnitView>,
    back: i64,
) -> Result<Vec<String>, Halt> {
    let host = call.host().await?;
    let mut all: Vec<(Tick, usize, String)> = Vec::new();
    let query = Query::Logs {
        from: host.now.plus(-back.clamp(1, 86_400)),
        to: host.now,
        severity: Severity::Info,
        contains: String::new(),
        limit: LINES_MAX,
    };
    let mut sources: Vec<(model::InstanceId, String, u32, bool)> = Vec::new();
    for one in host.units.iter().filter(|u| unit.is_none_or(|wanted| wanted.name == u.name)) {
        if let Some(instance) = one.instance {
            sources.push((instance, one.name.clone(), one.pid, false));
        }
    }
    sources.push((call.shell.session.host, "systemd".into(), 1, true));
    for (of, name, pid, own) in sources {
        let Answer::Logs(found) = call.shell.ask(of, query.clone()).await? else { continue };
        for line in found {
            // What the host says of a unit starts with its name.
            let about = |u: &UnitView| {
                let told = line.message.split([':', '/']).next().unwrap_or_default();
                u.name.split('@').next() == Some(told)
            };
            if own && unit.is_some_and(|u| !about(u)) {
                continue;
            }
            let level = match line.severity {
                Severity::Info => "",
                Severity::Warn => "WARN ",
                Severity::Error => "ERROR ",
            };
            let date = Date::at(line.tick).journal();
            let id = if pid == 0 { String::new() } else { format!("[{pid}]") };
            let text = format!("{date} {} {name}{id}: {level}{}", host.name, line.message);
            all.push((line.tick, all.len(), text));
        }
    }
    if let Some(unit) = unit.filter(|u| !u.reason.is_empty()) {
        let date = Date::at(unit.since).journal();
        let UnitView { name, pid, reason, .. } = unit;
        let text = format!("{date} {} {name}[{pid}]: FATAL:  {reason}", host.name);
        all.push((unit.since, all.len(), text));
    }
    all.sort_by_key(|(tick, at, _)| (*tick, *at));
    Ok(all.into_iter().map(|(_, _, text)| text).collect())
}

/// Seconds since a date as journalctl takes it.
fn ago(text: &str, host: &model::HostView) -> Option<i64> {
    let text = text.trim();
    if text == "today" || text == "yesterday" {
        return Some(86_400);
    }
    if let Some(rest) = text.strip_prefix('-').or_else(|| text.strip_suffix(" ago")) {
        let rest = rest.trim();
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let number: i64 = digits.parse().ok()?;
        let unit = match rest[digits.len()..].trim() {
            "s" | "sec" | "second" | "seconds" => 1,
            "m" | "min" | "minute" | "minutes" => 60,
            "h" | "hr" | "hour" | "hours" => 3600,
            "d" | "day" | "days" => 86_400,
            _ => return None,
        };
        return number.checked_mul(unit);
    }
    let now = Date::at(host.now);
    let (day, time) = match text.split_once(' ') {
        Some((day, time)) => (day.to_string(), time),
        None if text.contains(':') => (now.iso(), text),
        None => (text.to_string(), "00:00:00"),
    };
    let mut date = day.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, dom) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let mut clock = time.splitn(3, ':').map(str::parse::<i64>);
    let (hour, minute) = (clock.next()?.ok()?, clock.next()?.ok()?);
    let second = clock.next().unwrap_or(Ok(0)).ok()?;
    let unix = super::date::unix(year, month, dom)? + hour * 3600 + minute * 60 + second;
    Some(now.unix.saturating_sub(unix).max(1))
}

/// Throws archived journals away.
async fn vacuum(call: &mut Call<'_, '_>, keep: Option<String>) -> Done {
    let keep = match keep.as_deref().map(super::truncate::size) {
        None => 0.0,
        Some(Some(keep)) => keep,
        Some(None) => return call.fail(1, "Failed to parse vacuum size"),
    };
    let size = call.tree().await?.size(JOURNAL);
    let freed = (size - keep.max(8.0 * 1_048_576.0)).max(0.0);
    if !call.shell.is_root() {
        return call.fail(1, "Failed to vacuum: Permission denied");
    }
    if freed > 0.0 {
        let args = [("path", JOURNAL.into()), ("size", (size - freed).into())];
        if let Err(reason) = call.order("truncate", &args).await? {
            return call.fail(1, format!("Failed to vacuum: {reason}"));
        }
    }
    let freed = show::human(freed);
    call.warn(format!("Vacuuming done, freed {freed} of archived journals from {JOURNAL}."));
    Ok(0)
}
