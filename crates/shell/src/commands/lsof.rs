//! `lsof`: open files and sockets.

use super::Command;
use crate::call::{Call, Done, Stop};
use crate::{show, units};
use model::{FileContent, HostView};

pub(crate) const COMMAND: Command = Command {
    names: &["lsof"],
    summary: "List open files",
    usage: "lsof [-nPlt] [-i [TCP|UDP][:PORT]] [-p PID] [-u USER] [-c NAME] \
         [-s[TCP:STATE]] [+L1] [+D DIR] [FILE]...",
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

/// Ways of writing that are no options elsewhere: `-i:80`, `+L1`, `+D DIR`, `-sTCP:LISTEN`.
#[derive(Debug, Default)]
struct Special {
    /// What follows `-i`, without blanks.
    internet: Option<String>,
    removed: bool,
    folder: Option<String>,
}

/// Takes them out of the arguments.
fn special(args: Vec<String>) -> (Special, Vec<String>) {
    let (mut special, mut rest) = (Special::default(), Vec::new());
    let place = |a: &String| {
        a.contains(':') || matches!(a.to_lowercase().as_str(), "tcp" | "udp" | "4" | "6")
    };
    let mut args = args.into_iter().peekable();
    while let Some(arg) = args.next() {
        let letters = arg.strip_prefix('-').and_then(|a| a.split_once('i'));
        if let Some((before, after)) = letters
            && before.chars().all(|c| "nPlta".contains(c))
        {
            let next = if after.is_empty() { args.next_if(place) } else { None };
            special.internet = Some(next.unwrap_or(after.to_string()));
            if !before.is_empty() {
                rest.push(format!("-{before}"));
            }
        } else if arg == "+L1" {
            special.removed = true;
        } else if arg == "+D" || arg == "+d" {
            special.folder = args.next();
        } else if !arg.starts_with("-sTCP:") && !arg.starts_with("-sUDP:") {
            rest.push(arg);
        }
    }
    (special, rest)
}

/// The port after `-i`; none: all of them.
fn port(call: &mut Call<'_, '_>, internet: Option<&str>) -> Result<Option<u16>, Stop> {
    let Some((_, port)) = internet.and_then(|text| text.rsplit_once(':')) else { return Ok(None) };
    match port.parse().ok().or_else(|| super::ss::service_port(port)) {
        Some(port) => Ok(Some(port)),
        None => {
            let text = internet.unwrap_or_default();
            call.fail(1, format!("unknown service {port} for TCP in: -i {text}"))
        }
    }
}

async fn run(call: &mut Call<'_, '_>) -> Done {
    let (special, rest) = special(std::mem::take(&mut call.args));
    call.args = rest;
    let given = call.options("anPltRp:u:c:", &[])?;
    let host = call.host().await?;
    let internet = special.internet.as_deref();
    let port = port(call, internet)?;
    let udp = internet.is_some_and(|t| t.to_lowercase().starts_with("udp"));
    let paths: Vec<String> = given.operands.iter().map(|n| call.path(n)).collect();
    let tree = call.tree().await?;
    for (name, path) in given.operands.iter().zip(&paths) {
        if !tree.exists(path) {
            call.complain(format!("status error on {name}: No such file or directory"));
        }
    }
    let folder = special.folder.as_ref().map(|f| format!("{}/", call.path(f)));
    let list = |letter: char| -> Vec<String> {
        given.values(letter).flat_map(|v| v.split(',')).map(String::from).collect()
    };
    let (pids, users, names) = (list('p'), list('u'), list('c'));
    let mut all = opened(&host);
    all.retain(|o| {
        let Some(p) = units::process(&host, o.pid) else { return false };
        let comm = show::comm(&p.command);
        let on_port = o.port.is_some() && !udp && port.is_none_or(|p| o.port == Some(p));
        let named = names.iter().any(|n| comm.starts_with(n.as_str()));
        (internet.is_none() || on_port)
            && (!special.removed || o.links == 0)
            && (pids.is_empty() || pids.contains(&o.pid.to_string()))
            && (users.is_empty() || users.contains(&p.user))
            && (names.is_empty() || named)
            && (paths.is_empty() || paths.contains(&o.path) && o.links > 0)
            && folder.as_ref().is_none_or(|f| o.path.starts_with(f.as_str()))
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
    let text = table(&host, all, special.removed);
    call.put(&text);
    Ok(0)
}

fn table(host: &HostView, all: Vec<Open>, links: bool) -> String {
    let mut title = vec!["COMMAND", "PID", "USER", "FD", "TYPE", "DEVICE", "SIZE/OFF"];
    if links {
        title.push("NLINK");
    }
    title.extend(["NODE", "NAME"]);
    let mut rows: Vec<Vec<String>> = vec![title.iter().map(ToString::to_string).collect()];
    for o in all {
        let Some(p) = units::process(host, o.pid) else { continue };
        let command: String = show::comm(&p.command).chars().take(9).collect();
        let (device, node) = if o.port.is_some() { ("0t0", "TCP") } else { ("8,1", "131072") };
        let mut row = vec![command, o.pid.to_string(), p.user.clone(), o.fd];
        row.extend([o.kind.to_string(), device.to_string(), o.size]);
        if links {
            row.push(o.links.to_string());
        }
        row.extend([node.to_string(), o.name]);
        rows.push(row);
    }
    show::table(&rows, &[1, 6], " ")
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
