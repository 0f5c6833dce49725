//! `fuser`: who uses a port or a file; with `-k`, not any more.

use super::Command;
use crate::call::{Call, Done};
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
    let given = call.options("iIkmMn:suvw46", &[("kill", 'k'), ("namespace", 'n'), ("verbose", 'v'), ("mount", 'm')])?;
    if given.operands.is_empty() {
        return call.misuse("No process specification given");
    }
    let host = call.host().await?;
    let (mut any, mut verbose) = (false, Vec::new());
    for name in given.operands.clone() {
        let (number, space) = match (name.split_once('/'), given.value('n')) {
            (Some((number, space @ ("tcp" | "udp"))), _) => (number.to_string(), space.to_string()),
            (_, Some(space @ ("tcp" | "udp"))) => (name.clone(), space.to_string()),
            (None, _) if given.has('m') => (String::new(), "mount".into()),
            _ => (name.clone(), "file".into()),
        };
        let pids: Vec<u32> = match space.as_str() {
            "tcp" => {
                let Ok(port) = number.parse::<u16>() else {
                    return call.fail(1, format!("Cannot resolve local port {number}: Servname not supported for ai_socktype"));
                };
                host.sockets.iter().filter(|s| s.port == port).map(|s| s.pid).collect()
            }
            "udp" => Vec::new(),
            "mount" => host.processes.iter().map(|p| p.pid).collect(),
            _ => {
                let path = call.path(&name);
                if !call.tree().await?.exists(&path) {
                    call.warn(format!("Specified filename {name} does not exist."));
                    continue;
                }
                let open = host.files.iter().filter(|f| f.path == path && !f.deleted);
                open.flat_map(|f| f.handles.iter().copied()).collect()
            }
        };
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
                let (user, command) = units::process(&host, pid)
                    .map_or(("root".into(), String::new()), |p| (p.user.clone(), show::comm(&p.command)));
                call.warn(format!("{:<20} {user:<8} {pid:>6} F.... {command}", format!("{name}:")));
            }
        }
    }
    Ok(i32::from(!any))
}
