//! `lsof`: open files and sockets.

use super::Command;
use crate::call::{Call, Done};
use crate::{show, units};
use model::{FileContent, HostView};

pub(crate) const COMMAND: Command = Command {
    names: &["lsof"],
    summary: "List open files",
    usage: "lsof [-nPlt] [-i [TCP|UDP][:PORT]] [-p PID] [-u USER] [-c NAME] [-s[TCP:STATE]] [+L1] [+D DIR] [FILE]...",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

struct Open {
    pid: u32,
    fd: String,
    kind: &'static str,
    size: String,
    links: u32,
    name: String,
    port: Option<u16>,
    path: String,
}

async fn run(call: &mut Call<'_, '_>) -> Done {
    // Ways of writing that are no options elsewhere: `-i:80`, `+L1`, `-sTCP:LISTEN`.
    let (mut internet, mut removed, mut folder) = (None, false, None);
    let mut args = Vec::new();
    let mut given = std::mem::take(&mut call.args).into_iter().peekable();
    while let Some(arg) = given.next() {
        if arg == "-i" {
            let next = given.next_if(|a| a.contains(':') || matches!(a.to_lowercase().as_str(), "tcp" | "udp" | "4" | "6"));
            internet = Some(next.unwrap_or_default());
        } else if let Some(rest) = arg.strip_prefix("-i") {
            internet = Some(rest.to_string());
        } else if let Some(at) = arg.find('i').filter(|_| {
            arg.starts_with('-') && arg.split('i').next().is_some_and(|f| f[1..].chars().all(|c| "nPlta".contains(c)))
        }) {
            args.push(arg[..at].to_string());
            let rest = arg[at + 1..].to_string();
            let next = if rest.is_empty() { given.next_if(|a| a.contains(':')) } else { None };
            internet = Some(next.unwrap_or(rest));
        } else if arg == "+L1" {
            removed = true;
        } else if arg == "+D" || arg == "+d" {
            folder = given.next();
        } else if !arg.starts_with("-sTCP:") && !arg.starts_with("-sUDP:") {
            args.push(arg);
        }
    }
    call.args = args;
    let given = call.options("anPltRp:u:c:", &[])?;
    let host = call.host().await?;
    let port = match internet.as_deref() {
        Some(text) => match text.rsplit_once(':') {
            Some((_, port)) => match port.parse::<u16>() {
                Ok(port) => Some(port),
                Err(_) => match super::ss::service_port(port) {
                    Some(port) => Some(port),
                    None => {
                        call.complain(format!("unknown service {port} for TCP in: -i {text}"));
                        return Ok(1);
                    }
                },
            },
            None => None,
        },
        None => None,
    };
    let udp = internet.as_ref().is_some_and(|t| t.to_lowercase().starts_with("udp"));
    let paths: Vec<String> = given.operands.iter().map(|n| call.path(n)).collect();
    let tree = call.tree().await?;
    for (name, path) in given.operands.iter().zip(&paths) {
        if !tree.exists(path) {
            call.complain(format!("status error on {name}: No such file or directory"));
        }
    }
    let folder = folder.map(|f| call.path(&f));
    let list = |letter: char| -> Vec<String> {
        given.values(letter).flat_map(|v| v.split(',')).map(String::from).collect()
    };
    let (pids, users, names) = (list('p'), list('u'), list('c'));
    let mut all = opened(&host);
    all.retain(|o| {
        let Some(p) = units::process(&host, o.pid) else { return false };
        let wanted = |ok: bool, on: bool| !on || ok;
        wanted(o.port.is_some() && !udp && port.is_none_or(|p| o.port == Some(p)), internet.is_some())
            && wanted(o.links == 0, removed)
            && wanted(pids.contains(&o.pid.to_string()), !pids.is_empty())
            && wanted(users.contains(&p.user), !users.is_empty())
            && wanted(names.iter().any(|n| show::comm(&p.command).starts_with(n.as_str())), !names.is_empty())
            && wanted(paths.contains(&o.path) && o.links > 0, !paths.is_empty())
            && wanted(folder.as_ref().is_some_and(|f| o.path.starts_with(&format!("{f}/"))), folder.is_some())
    });
    if given.has('t') {
        let mut pids: Vec<u32> = all.iter().map(|o| o.pid).collect();
        pids.sort_unstable();
        pids.dedup();
        for pid in &pids {
            call.say(pid.to_string());
        }
        return Ok(i32::from(pids.is_empty()));
    }
    if all.is_empty() {
        return Ok(1);
    }
    let mut title = vec!["COMMAND", "PID", "USER", "FD", "TYPE", "DEVICE", "SIZE/OFF"];
    if removed {
        title.push("NLINK");
    }
    title.extend(["NODE", "NAME"]);
    let mut rows: Vec<Vec<String>> = vec![title.iter().map(ToString::to_string).collect()];
    for o in all {
        let Some(p) = units::process(&host, o.pid) else { continue };
        let command: String = show::comm(&p.command).chars().take(9).collect();
        let (device, node) = if o.port.is_some() { ("0t0", "TCP") } else { ("8,1", "131072") };
        let mut row = vec![command, o.pid.to_string(), p.user.clone(), o.fd, o.kind.into(), device.into(), o.size];
        if removed {
            row.push(o.links.to_string());
        }
        row.extend([node.to_string(), o.name]);
        rows.push(row);
    }
    call.put(&show::table(&rows, &[1, 6], " "));
    Ok(0)
}

fn opened(host: &HostView) -> Vec<Open> {
    let mut all = Vec::new();
    for process in &host.processes {
        let mut fd = 3;
        for socket in host.sockets.iter().filter(|s| s.pid == process.pid) {
            all.push(Open {
                pid: process.pid,
                fd: format!("{fd}u"),
                kind: "IPv4",
                size: "0t0".into(),
                links: 1,
                name: format!("*:{} (LISTEN)", socket.port),
                port: Some(socket.port),
                path: String::new(),
            });
            fd += 1;
        }
        for file in host.files.iter().filter(|f| f.handles.contains(&process.pid)) {
            let folder = file.content == FileContent::Folder;
            all.push(Open {
                pid: process.pid,
                fd: if folder { format!("{fd}r") } else { format!("{fd}w") },
                kind: if folder { "DIR" } else { "REG" },
                size: format!("{:.0}", file.size),
                links: u32::from(!file.deleted),
                name: format!("{}{}", file.path, if file.deleted { " (deleted)" } else { "" }),
                port: None,
                path: file.path.clone(),
            });
            fd += 1;
        }
    }
    all
}
