//! `fuser`: who uses a port or a file; with `-k`, not any more.

use super::Command;
use crate::call::{Call, Done, Stop};
use crate::options::Given;
use crate::{show, units};

pub(crate) const COMMAND: Command = Command {
    names: &["fuser"],
    summary: "Identify processes using files or sockets",
    usage: "fuser [-ikmuv] [-n SPACE] [-SIGNAL] NAME...",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let mut signal = "KILL";
    if let Some(at) = call.args.iter().position(|a| {
        a.len() > 2 && a.starts_with('-') && units::signal_name(&a[1..]).is_some()
            || a.len() == 2 && matches!(a.as_str(), "-9" | "-1" | "-2" | "-3")
    }) {
        signal = units::signal_name(&call.args.remove(at)[1..]).unwrap_or("KILL");
    }
    let long = &[("kill", 'k'), ("namespace", 'n'), ("verbose", 'v'), ("mount", 'm')];
    let given = call.options("iIkmMn:suvw46", long)?;
    if given.operands.is_empty() {
        return call.misuse("No process specification given");
    }
    let host = call.host().await?;
    let (mut any, mut verbose) = (false, Vec::new());
    for name in given.operands.clone() {
        let Some(pids) = users(call, &given, &name).await? else { continue };
        if pids.is_empty() {
            continue;
        }
        any = true;
        let shown: Vec<String> = pids.iter().map(|p| format!("{p:>6}")).collect();
        if given.has('v') {
            verbose.push((name.clone(), pids.clone()));
        } else if !given.has('s') {
            // The label goes to standard error, so that the numbers can be used.
            call.err += &format!("{name}:{}", " ".repeat(21_usize.saturating_sub(name.len() + 1)));
            call.put(&shown.concat());
            call.err += "\n";
        }
        if given.has('k') {
            for pid in pids {
                if given.has('m') && pid == 1 {
                    continue;
                }
                if let Err(reason) = units::signal(call, pid, signal).await? {
                    call.warn(format!("Could not kill process {pid}: {reason}"));
                }
            }
        }
    }
    if !verbose.is_empty() {
        call.warn("                     USER        PID ACCESS COMMAND");
        for (name, pids) in verbose {
            for pid in pids {
                let Some(p) = units::process(&host, pid) else { continue };
                let (user, command) = (&p.user, show::comm(&p.command));
                call.warn(format!("{:<20} {user:<8} {pid:>6} F.... {command}", format!("{name}:")));
            }
        }
    }
    Ok(i32::from(!any))
}

/// Processes that use what a name stands for; `None`: there is no such thing.
async fn users(
    call: &mut Call<'_, '_>,
    given: &Given,
    name: &str,
) -> Result<Option<Vec<u32>>, Stop> {
    let host = call.host().await?;
    let (number, space) = match (name.split_once('/'), given.value('n')) {
        (Some((number, space @ ("tcp" | "udp"))), _) => (number, space),
        (_, Some(space @ ("tcp" | "udp"))) => (name, space),
        (None, _) if given.has('m') => ("", "mount"),
        _ => (name, "file"),
    };
    Ok(Some(match space {
        "tcp" => {
            let Ok(port) = number.parse::<u16>() else {
                let why = "Servname not supported for ai_socktype";
                return call.fail(1, format!("Cannot resolve local port {number}: {why}"));
            };
            host.sockets.iter().filter(|s| s.port == port).map(|s| s.pid).collect()
        }
        "udp" => Vec::new(),
        "mount" => host.processes.iter().map(|p| p.pid).collect(),
        _ => {
            let path = call.path(name);
            if !call.tree().await?.exists(&path) {
                call.warn(format!("Specified filename {name} does not exist."));
                return Ok(None);
            }
            let open = host.files.iter().filter(|f| f.path == path && !f.deleted);
            open.flat_map(|f| f.handles.iter().copied()).collect()
        }
    }))
}
