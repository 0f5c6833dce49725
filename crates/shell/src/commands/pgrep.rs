//! `pgrep`, `pkill`, `killall`, `pidof`: processes by name, listed or signalled.

use super::Command;
use crate::call::{Call, Done};
use crate::options::Given;
use crate::regular::{self, Flavor};
use crate::{show, units};
use model::ProcessView;

pub(crate) const COMMAND: Command = Command {
    names: &["pgrep", "pkill", "killall", "pidof"],
    summary: "Look up or signal processes based on name and other attributes",
    usage: "pgrep [-acfilnovx] [-SIGNAL] [-P PPID] [-u USER] PATTERN",
    misuse: 2,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
        ("full", 'f'),
        ("list-name", 'l'),
        ("list-full", 'a'),
        ("exact", 'x'),
        ("newest", 'n'),
        ("oldest", 'o'),
        ("count", 'c'),
        ("inverse", 'v'),
        ("ignore-case", 'i'),
        ("parent", 'P'),
        ("user", 'u'),
        ("euid", 'u'),
        ("echo", 'e'),
        ("signal", 's'),
    ];

/// Those of `killall`.
const KILLALL: &[(&str, char)] = &[("signal", 's'), ("quiet", 'q'), ("exact", 'e')];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let mut signal = "TERM";
    if matches!(call.name.as_str(), "pkill" | "killall")
        && let Some(at) = call.args.iter().position(|a| named(a).is_some())
    {
        signal = named(&call.args.remove(at)).unwrap_or("TERM");
    }
    let given = match call.name.as_str() {
        "killall" => call.options("eIgqs:u:vwr", KILLALL)?,
        "pidof" => call.options("scx", &[])?,
        _ => call.options("acefilnovxP:u:U:s:", LONG)?,
    };
    if let Some(text) = given.value('s').filter(|_| call.name != "pidof") {
        match units::signal_name(text) {
            Some(name) => signal = name,
            None => return call.misuse(format!("Unknown signal \"{text}\".")),
        }
    }
    let host = call.host().await?;
    if matches!(call.name.as_str(), "killall" | "pidof") {
        return by_exact_name(call, &given, signal).await;
    }
    if given.operands.len() > 1 {
        return call.misuse("only one pattern can be provided");
    }
    let by_other = given.has('P') || given.has('u');
    let pattern = match given.first() {
        Some(pattern) => pattern.to_string(),
        None if by_other => String::new(),
        None => return call.misuse("no matching criteria specified"),
    };
    let matcher = match regular::compile(&pattern, Flavor::Extended, given.has('i')) {
        Ok(matcher) => matcher,
        Err(reason) => return call.fail(2, reason),
    };
    let fits = |p: &&ProcessView| {
        let text = if given.has('f') { p.command.clone() } else { show::comm(&p.command) };
        let hit = match given.has('x') {
            true => matcher.find(&text).is_some_and(|m| m.len() == text.len()),
            false => matcher.is_match(&text),
        };
        let of = |value: Option<&str>, text: &str| {
            value.is_none_or(|v| v.split(',').any(|u| u == text))
        };
        (hit != given.has('v'))
            && of(given.value('P'), &p.parent.to_string())
            && of(given.value('u'), &p.user)
    };
    let mut found: Vec<ProcessView> = host.processes.iter().filter(fits).cloned().collect();
    if given.has('n') || given.has('o') {
        found.sort_by_key(|p| (p.started, p.pid));
        let one = if given.has('n') { found.pop() } else { found.into_iter().next() };
        found = one.into_iter().collect();
    }
    if call.name == "pgrep" {
        return Ok(list(call, &given, &found));
    }
    send(call, &given, signal, &found).await
}

async fn send(
    call: &mut Call<'_, '_>,
    given: &Given,
    signal: &str,
    found: &[ProcessView],
) -> Done {
    let mut hit = false;
    for p in found {
        match units::signal(call, p.pid, signal).await? {
            Ok(()) => {
                hit = true;
                if given.has('e') {
                    call.say(format!("{} killed (pid {})", show::comm(&p.command), p.pid));
                }
            }
            Err(reason) => call.complain(format!("killing pid {} failed: {reason}", p.pid)),
        }
    }
    Ok(i32::from(!hit))
}

fn list(call: &mut Call<'_, '_>, given: &Given, found: &[ProcessView]) -> i32 {
    if given.has('c') {
        call.say(found.len().to_string());
        return i32::from(found.is_empty());
    }
    for p in found {
        let line = match (given.has('a'), given.has('l')) {
            (true, _) => format!("{} {}", p.pid, p.command),
            (_, true) => format!("{} {}", p.pid, show::comm(&p.command)),
            _ => p.pid.to_string(),
        };
        call.say(line);
    }
    i32::from(found.is_empty())
}

async fn by_exact_name(call: &mut Call<'_, '_>, given: &Given, signal: &str) -> Done {
    let host = call.host().await?;
    if given.operands.is_empty() {
        return if call.name == "pidof" { Ok(1) } else { call.misuse("no process name given") };
    }
    let mut code = 0;
    let mut pids = Vec::new();
    for name in &given.operands {
        let found: Vec<u32> = host
            .processes
            .iter()
            .filter(|p| {
                show::comm(&p.command) == *name || p.command.split(' ').next() == Some(name)
            })
            .map(|p| p.pid)
            .collect();
        if found.is_empty() {
            code = 1;
            if call.name == "killall" && !given.has('q') {
                call.warn(format!("{name}: no process found"));
            }
        }
        for pid in found {
            pids.push(pid.to_string());
            if call.name == "killall"
                && let Err(reason) = units::signal(call, pid, signal).await?
            {
                call.warn(format!("{name}({pid}): {reason}"));
                code = 1;
            }
        }
    }
    if call.name == "pidof" && !pids.is_empty() {
        pids.reverse();
        call.say(pids.join(" "));
    }
    Ok(code)
}

/// The signal of `-9`, `-KILL`, `-SIGKILL`.
fn named(arg: &str) -> Option<&'static str> {
    let text = arg.strip_prefix('-')?;
    let whole = text.len() > 1 || text.chars().all(|c| c.is_ascii_digit());
    if whole { units::signal_name(text) } else { None }
}
