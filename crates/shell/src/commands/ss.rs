//! `ss`, `netstat`: sockets.

use super::Command;
use crate::call::{Call, Done};
use crate::{show, units};

pub(crate) const COMMAND: Command = Command {
    names: &["ss", "netstat"],
    summary: "Investigate sockets",
    usage: "ss [-4aHlnpstu] [FILTER]",
    misuse: 255,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let host = call.host().await?;
    let netstat = call.name == "netstat";
    let given = match netstat {
        true => call.options("46aelnoprstuvWi", &[("tcp", 't'), ("udp", 'u'), ("listening", 'l'), ("numeric", 'n'), ("programs", 'p'), ("all", 'a')])?,
        false => call.options("046aeHilmnoOprstuwx", &[("tcp", 't'), ("udp", 'u'), ("listening", 'l'), ("numeric", 'n'), ("processes", 'p'), ("all", 'a'), ("summary", 's'), ("no-header", 'H')])?,
    };
    if given.has('s') {
        let open = host.sockets.len();
        call.say(format!("Total: {}\nTCP:   {open} (estab 0, closed 0, orphaned 0, timewait 0)", open + 12));
        return Ok(0);
    }
    if given.has('u') && !given.has('t') {
        call.say("State Recv-Q Send-Q Local Address:Port Peer Address:Port Process");
        return Ok(0);
    }
    // `sport = :80`, `( sport = :80 or dport = :80 )`, `state listening`.
    let filter = given.operands.join(" ");
    let mut ports: Vec<u16> = Vec::new();
    for word in filter.split([' ', '(', ')', '=']).filter(|w| !w.is_empty()) {
        match word {
            "sport" | "dport" | "or" | "eq" | "and" | "state" | "listening" | "established" | "src" => {}
            _ => {
                let text = word.rsplit(':').next().unwrap_or(word);
                match text.parse().ok().or_else(|| service_port(text)) {
                    Some(port) => ports.push(port),
                    None => {
                        call.warn(format!("Error: an inet prefix is expected rather than \"{word}\"."));
                        call.warn("Cannot parse dst/src address.");
                        return Ok(1);
                    }
                }
            }
        }
    }
    let listening = given.has('l') || given.has('a') || filter.contains("listening") || !ports.is_empty();
    let shown = host.sockets.iter().filter(|s| listening && (ports.is_empty() || ports.contains(&s.port)));
    let may_see = |pid: u32| call.shell.is_root() || units::process(&host, pid).is_some_and(|p| p.user == call.shell.session.user);
    let name = |pid: u32| units::process(&host, pid).map_or(String::new(), |p| show::comm(&p.command));
    let mut rows: Vec<Vec<String>> = Vec::new();
    if netstat {
        let mut title = vec!["Proto", "Recv-Q", "Send-Q", "Local Address", "Foreign Address", "State"];
        if given.has('p') {
            title.push("PID/Program name");
        }
        rows.push(title.iter().map(ToString::to_string).collect());
        for s in shown {
            let local = format!("0.0.0.0:{}", port(s.port, given.has('n')));
            let mut row = vec!["tcp".into(), "0".into(), "0".into(), local, "0.0.0.0:*".into(), "LISTEN".into()];
            if given.has('p') {
                row.push(if may_see(s.pid) { format!("{}/{}", s.pid, name(s.pid)) } else { "-".into() });
            }
            rows.push(row);
        }
        call.say(if given.has('l') { "Active Internet connections (only servers)" } else { "Active Internet connections (servers and established)" });
    } else {
        let with_kind = !given.has('t');
        let mut title = if with_kind { vec!["Netid"] } else { Vec::new() };
        title.extend(["State", "Recv-Q", "Send-Q", "Local Address:Port", "Peer Address:Port"]);
        if given.has('p') {
            title.push("Process");
        }
        if !given.has('H') {
            rows.push(title.iter().map(ToString::to_string).collect());
        }
        for s in shown {
            let local = format!("0.0.0.0:{}", port(s.port, given.has('n')));
            let mut row = if with_kind { vec!["tcp".to_string()] } else { Vec::new() };
            row.extend(["LISTEN".into(), "0".into(), "511".into(), local, "0.0.0.0:*".into()]);
            if given.has('p') && may_see(s.pid) {
                row.push(format!("users:((\"{}\",pid={},fd=3))", name(s.pid), s.pid));
            }
            rows.push(row);
        }
    }
    call.put(&show::table(&rows, &[], "  "));
    Ok(0)
}

fn port(port: u16, numeric: bool) -> String {
    let name = SERVICES.iter().find(|(_, p)| *p == port && !numeric);
    name.map_or(port.to_string(), |(name, _)| name.to_string())
}

const SERVICES: &[(&str, u16)] = &[
    ("domain", 53),
    ("http", 80),
    ("http-alt", 8080),
    ("https", 443),
    ("postgresql", 5432),
    ("redis", 6379),
    ("ssh", 22),
];

/// The port of a service by its name.
pub(super) fn service_port(name: &str) -> Option<u16> {
    SERVICES.iter().find(|(n, _)| *n == name).map(|(_, port)| *port)
}
