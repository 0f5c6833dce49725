//! `systemctl`: units.

use super::Command;
use crate::call::{Call, Done};
use crate::clock::{Date, span};
use crate::options::Given;
use crate::{show, units};
use model::{HostView, UnitState, UnitView};

pub(crate) const COMMAND: Command = Command {
    names: &["systemctl"],
    summary: "Query or send control commands to the system manager",
    usage: "systemctl [OPTIONS...] \
         start|stop|restart|reload|try-restart|status|is-active|is-failed|is-enabled|show|cat|\
         list-units|list-unit-files|reset-failed|enable|disable|daemon-reload \
         [UNIT...]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
        ("no-pager", 'P'),
        ("full", 'l'),
        ("all", 'a'),
        ("type", 't'),
        ("state", 'S'),
        ("failed", 'F'),
        ("lines", 'n'),
        ("quiet", 'q'),
        ("now", 'W'),
        ("no-block", 'B'),
        ("plain", 'L'),
        ("no-legend", 'G'),
        ("property", 'p'),
        ("value", 'V'),
        ("force", 'f'),
        ("signal", 's'),
        ("output", 'o'),
    ];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("at:ln:qfp:s:S:o:", LONG)?;
    let mut names = given.operands.clone();
    let verb = if names.is_empty() { "list-units".to_string() } else { names.remove(0) };
    let host = call.host().await?;
    let change = match verb.as_str() {
        "start" | "stop" | "restart" | "reload" => Some(verb.as_str()),
        "try-restart" | "condrestart" => Some("restart"),
        "reload-or-restart" | "try-reload-or-restart" | "force-reload" => Some("reload"),
        _ => None,
    };
    if let Some(change) = change {
        if names.is_empty() {
            call.warn("Too few arguments.");
            return Ok(1);
        }
        return change_all(call, &names, &verb, change).await;
    }
    match verb.as_str() {
        "kill" => kill(call, &names, given.value('s').unwrap_or("TERM")).await,
        "status" => status(call, &host, &names, given.value('n')).await,
        "is-active" | "is-failed" | "is-enabled" => {
            Ok(judge(call, &host, &verb, &names, given.has('q')))
        }
        "list-units" | "list-unit-files" => {
            list(call, &host, &given, verb == "list-unit-files");
            Ok(0)
        }
        "show" => {
            let unit = names.first().and_then(|name| units::unit(&host, name));
            let wanted: Vec<&str> = given.values('p').flat_map(|v| v.split(',')).collect();
            for (key, value) in properties(unit, names.first().map_or("", String::as_str)) {
                if wanted.is_empty() || wanted.contains(&key) {
                    call.say(if given.has('V') { value } else { format!("{key}={value}") });
                }
            }
            Ok(0)
        }
        "cat" => Ok(unit_files(call, &host, &names)),
        "reset-failed" | "enable" | "disable" | "unmask" | "mask" => {
            for name in &names {
                if units::unit(&host, name).is_none() {
                    let name = service(name);
                    call.warn(format!("Failed to {verb} unit: Unit file {name} does not exist."));
                    return Ok(1);
                }
            }
            match given.has('W') && verb == "enable" {
                true => change_all(call, &names, "start", "start").await,
                false => Ok(0),
            }
        }
        "daemon-reload" | "daemon-reexec" => Ok(0),
        "is-system-running" => {
            let bad = host.units.iter().any(|u| u.state == UnitState::Failed);
            call.say(if bad { "degraded" } else { "running" });
            Ok(i32::from(bad))
        }
        _ => {
            call.warn(format!("Unknown command verb {verb}."));
            Ok(1)
        }
    }
}

/// `is-active`, `is-failed`, `is-enabled`: a word per unit, and whether it holds for any.
fn judge(
    call: &mut Call<'_, '_>,
    host: &HostView,
    verb: &str,
    names: &[String],
    quiet: bool,
) -> i32 {
    let mut any = false;
    for name in names {
        let unit = units::unit(host, name);
        let (state, hit) = match (verb, unit) {
            ("is-enabled", Some(_)) => ("enabled", true),
            ("is-enabled", None) => {
                let name = service(name);
                let why = "No such file or directory";
                call.warn(format!("Failed to get unit file state for {name}: {why}"));
                continue;
            }
            (_, None) => ("inactive", false),
            (_, Some(unit)) => {
                let state = units::states(unit).0;
                (state, state == if verb == "is-active" { "active" } else { "failed" })
            }
        };
        any |= hit;
        if !quiet {
            call.say(state);
        }
    }
    match (any, verb) {
        (true, _) => 0,
        (false, "is-active") => 3,
        _ => 1,
    }
}

/// `cat`: the files of units.
fn unit_files(call: &mut Call<'_, '_>, host: &HostView, names: &[String]) -> i32 {
    for name in names {
        let Some(unit) = units::unit(host, name) else {
            call.warn(format!("No files found for {}.", service(name)));
            return 1;
        };
        call.say(format!("# /lib/systemd/system/{}.service\n[Unit]", unit.name));
        call.say(format!("Description={}\n\n[Service]", units::description(unit)));
        call.say(format!("ExecStart={}\nRestart=always\n", unit.command));
        call.say("[Install]\nWantedBy=multi-user.target");
    }
    0
}

fn service(name: &str) -> String {
    if name.contains('.') { name.into() } else { format!("{name}.service") }
}

/// Shared with `service` and `nginx`: one change of several units.
pub(super) async fn change_all(
    call: &mut Call<'_, '_>,
    names: &[String],
    verb: &str,
    change: &str,
) -> Done {
    let host = call.host().await?;
    let mut code = 0;
    for name in names {
        let Some(unit) = units::unit(&host, name) else {
            call.warn(format!("Failed to {verb} {0}: Unit {0} not found.", service(name)));
            code = 5;
            continue;
        };
        if !call.shell.is_root() {
            call.warn(format!("Failed to {verb} {}: Access denied", service(name)));
            call.warn(format!("See system logs and 'systemctl status {}' for details.", service(name)));
            code = 4;
            continue;
        }
        if change == "reload" && unit.state != UnitState::Active {
            call.warn(format!("{} is not active, cannot reload.", service(name)));
            code = 1;
            continue;
        }
        let unit = unit.name.clone();
        if let Err(_reason) = units::change(call, &unit, change).await? {
            let service = service(name);
            call.warn(format!("Job for {service} failed because the control process exited with \
                 error code."));
            call.warn(format!("See \"systemctl status {service}\" and \"journalctl -xeu \
                 {service}\" for details."));
            code = 1;
        }
    }
    Ok(code)
}

async fn kill(call: &mut Call<'_, '_>, names: &[String], signal: &str) -> Done {
    let host = call.host().await?;
    let Some(signal) = units::signal_name(signal) else {
        call.warn(format!("Failed to parse signal string {signal}."));
        return Ok(1);
    };
    for name in names {
        match units::unit(&host, name) {
            Some(unit) if unit.pid != 0 => {
                if let Err(reason) = units::signal(call, unit.pid, signal).await? {
                    call.warn(format!("Failed to kill unit {}: {reason}", service(name)));
                    return Ok(1);
                }
            }
            Some(_) => {
                call.warn(format!("Failed to kill unit {}: No main process to kill", service(name)));
                return Ok(1);
            }
            None => {
                call.warn(format!("Failed to kill unit {0}: Unit {0} not loaded.", service(name)));
                return Ok(5);
            }
        }
    }
    Ok(0)
}

async fn status(
    call: &mut Call<'_, '_>,
    host: &HostView,
    names: &[String],
    lines: Option<&str>,
) -> Done {
    if names.is_empty() {
        let failed = host.units.iter().filter(|u| u.state == UnitState::Failed).count();
        let state = if failed > 0 { "degraded" } else { "running" };
        call.say(format!("● {}\n    State: {state}", host.name));
        call.say(format!("    Units: {} loaded\n   Failed: {failed} units", host.units.len()));
        return Ok(0);
    }
    let lines = lines.and_then(|l| l.parse::<usize>().ok()).unwrap_or(10);
    let mut code = 0;
    for (at, name) in names.iter().enumerate() {
        let Some(unit) = units::unit(host, name) else {
            call.warn(format!("Unit {} could not be found.", service(name)));
            code = 4;
            continue;
        };
        if at > 0 {
            call.say("");
        }
        write_status(call, host, unit);
        let unit = unit.clone();
        let journal = super::journalctl::lines(call, Some(&unit), 3600).await?;
        let skip = journal.len().saturating_sub(lines);
        if !journal.is_empty() && lines > 0 {
            call.say("");
            for line in &journal[skip..] {
                call.say(line);
            }
        }
        if unit.state != UnitState::Active {
            code = 3;
        }
    }
    Ok(code)
}

fn write_status(call: &mut Call<'_, '_>, host: &HostView, unit: &UnitView) {
    let (active, sub) = units::states(unit);
    let dot = match unit.state {
        UnitState::Active | UnitState::Activating => "●",
        UnitState::Failed => "×",
        UnitState::Inactive => "○",
    };
    let since = Date::at(unit.since).systemd();
    let ago = span(host.now.since(unit.since));
    call.say(format!("{dot} {}.service - {}", unit.name, units::description(unit)));
    call.say(format!("     Loaded: loaded (/lib/systemd/system/{}.service; enabled; \
         preset: enabled)", unit.name));
    let result = match unit.state {
        UnitState::Failed => " (Result: exit-code)",
        _ => "",
    };
    call.say(format!("     Active: {active} ({sub}){result} since {since}; {ago} ago"));
    if unit.pid != 0 {
        let process = units::process(host, unit.pid);
        call.say(format!("   Main PID: {} ({})", unit.pid, show::comm(&unit.command)));
        call.say(format!("      Tasks: {} (limit: 4915)", unit.running.max(1)));
        call.say(format!("     Memory: {}", show::human(process.map_or(0.0, |p| p.memory))));
        call.say(format!("     CGroup: /system.slice/{}.service", unit.name));
        call.say(format!("             └─{} {}", unit.pid, unit.command));
    } else if !unit.reason.is_empty() {
        call.say(format!("    Process: ExecStart={} (code=exited, status=1/FAILURE)", unit.command));
        call.say(format!("     Status: \"{}\"", unit.reason));
    }
}

fn list(call: &mut Call<'_, '_>, host: &HostView, given: &Given, files: bool) {
    let state = given.value('S');
    let failed = given.has('F') || state == Some("failed");
    let bare = given.has('G');
    let title: &[&str] = match files {
        true => &["UNIT FILE", "STATE", "PRESET"],
        false => &["  UNIT", "LOAD", "ACTIVE", "SUB", "DESCRIPTION"],
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    if !bare {
        rows.push(title.iter().map(ToString::to_string).collect());
    }
    let mut shown = 0;
    for unit in &host.units {
        let (active, sub) = units::states(unit);
        let wanted = match state {
            Some(state) => state.split(',').any(|s| s == active || s == sub),
            None => given.has('a') || files || unit.state != UnitState::Inactive,
        };
        if !wanted || failed && unit.state != UnitState::Failed {
            continue;
        }
        shown += 1;
        let name = format!("{}.service", unit.name);
        let marked = match unit.state {
            _ if given.has('L') => name.clone(),
            UnitState::Failed => format!("● {name}"),
            _ => format!("  {name}"),
        };
        let about = units::description(unit);
        let row = match files {
            true => vec![name.as_str(), "enabled", "enabled"],
            false => vec![marked.as_str(), "loaded", active, sub, about.as_str()],
        };
        rows.push(row.into_iter().map(String::from).collect());
    }
    call.put(&show::table(&rows, &[], " "));
    if !bare {
        let what = if files { "unit files" } else { "loaded units" };
        call.say(format!("\n{shown} {what} listed."));
    }
}

fn properties(unit: Option<&UnitView>, name: &str) -> Vec<(&'static str, String)> {
    let Some(unit) = unit else {
        return vec![
            ("Id", service(name)),
            ("LoadState", "not-found".into()),
            ("ActiveState", "inactive".into()),
            ("SubState", "dead".into()),
            ("MainPID", "0".into()),
        ];
    };
    let (active, sub) = units::states(unit);
    vec![
        ("Id", format!("{}.service", unit.name)),
        ("Description", units::description(unit)),
        ("LoadState", "loaded".into()),
        ("ActiveState", active.into()),
        ("SubState", sub.into()),
        ("MainPID", unit.pid.to_string()),
        ("NRestarts", unit.exits.to_string()),
        ("Result", if unit.state == UnitState::Failed { "exit-code" } else { "success" }.into()),
        ("ActiveEnterTimestamp", Date::at(unit.since).systemd()),
        ("ExecStart", unit.command.clone()),
        ("Restart", "always".into()),
    ]
}
