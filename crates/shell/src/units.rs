//! Units and processes of a host, found as programs name them.

use crate::call::{Call, Stop};
use crate::show;
use model::{HostView, ProcessState, ProcessView, UnitState, UnitView};

/// The unit called `name`, with or without `.service`, or by an alias that distributions give it.
pub(crate) fn unit<'h>(host: &'h HostView, name: &str) -> Option<&'h UnitView> {
    let name = name.strip_suffix(".service").unwrap_or(name);
    let alias = match name {
        "sshd" => "ssh",
        "chronyd" => "chrony",
        "crond" => "cron",
        "postgres" => "postgresql",
        other => other,
    };
    let called = |wanted: &str| host.units.iter().find(|u| u.name == wanted);
    called(name).or_else(|| called(alias))
}

pub(crate) fn process(host: &HostView, pid: u32) -> Option<&ProcessView> {
    host.processes.iter().find(|p| p.pid == pid)
}

/// What a unit is, in a line.
pub(crate) fn description(unit: &UnitView) -> String {
    match unit.name.as_str() {
        "nginx" => "A high performance web server and a reverse proxy server".into(),
        "postgresql" => "PostgreSQL RDBMS".into(),
        "ssh" => "OpenBSD Secure Shell server".into(),
        "cron" => "Regular background program processing daemon".into(),
        "chrony" => "chrony, an NTP client/server".into(),
        "systemd-journald" => "Journal Service".into(),
        name => format!("{name} service"),
    }
}

/// `active (running)` and the like: state and sub-state.
pub(crate) fn states(unit: &UnitView) -> (&'static str, &'static str) {
    match unit.state {
        UnitState::Active => ("active", "running"),
        UnitState::Activating if unit.exits > 0 => ("activating", "auto-restart"),
        UnitState::Activating => ("activating", "start"),
        UnitState::Failed => ("failed", "failed"),
        UnitState::Inactive => ("inactive", "dead"),
    }
}

/// Whether a user may signal a process.
pub(crate) fn may_signal(user: &str, process: &ProcessView) -> bool {
    user == "root" || user == process.user
}

/// Sends a signal; what goes wrong is the text of `errno`.
pub(crate) async fn signal(
    call: &mut Call<'_, '_>,
    pid: u32,
    signal: &str,
) -> Result<Result<(), String>, Stop> {
    let host = call.host().await?;
    let Some(process) = process(&host, pid) else { return Ok(Err("No such process".into())) };
    if !may_signal(&call.shell.session.user, process) {
        return Ok(Err("Operation not permitted".into()));
    }
    if signal == "0" || pid == 1 {
        // 0 asks whether one might; process 1 ignores what it has no handler for.
        return Ok(Ok(()));
    }
    Ok(call.order("signal", &[("pid", f64::from(pid).into()), ("signal", signal.into())]).await?)
}

/// The name of a signal as written: `9`, `KILL`, `SIGKILL`, `0`.
pub(crate) fn signal_name(text: &str) -> Option<&'static str> {
    const SIGNALS: &[(&str, &str)] = &[
        ("0", "0"),
        ("1", "HUP"),
        ("2", "INT"),
        ("3", "QUIT"),
        ("6", "ABRT"),
        ("9", "KILL"),
        ("10", "USR1"),
        ("12", "USR2"),
        ("15", "TERM"),
        ("18", "CONT"),
        ("19", "STOP"),
    ];
    let upper = text.to_ascii_uppercase();
    let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
    SIGNALS.iter().find(|(n, name)| *n == bare || *name == bare).map(|(_, name)| *name)
}

/// What `ps` shows as the command.
pub(crate) fn command(process: &ProcessView) -> String {
    match process.state {
        ProcessState::Zombie => format!("[{}] <defunct>", show::comm(&process.command)),
        _ => process.command.clone(),
    }
}

/// Starts, stops, restarts or reloads a unit; the error is why it does not run now.
pub(crate) async fn change(
    call: &mut Call<'_, '_>,
    name: &str,
    change: &str,
) -> Result<Result<(), String>, Stop> {
    let told = call.order("unit", &[("unit", name.into()), ("change", change.into())]).await?;
    if let Err(reason) = told {
        return Ok(Err(reason));
    }
    let host = call.host().await?;
    let failed = unit(&host, name).filter(|u| u.state == UnitState::Failed);
    Ok(match failed {
        Some(unit) if change != "stop" => Err(unit.reason.clone()),
        _ => Ok(()),
    })
}
