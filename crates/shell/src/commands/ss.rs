//! `ss`, `netstat`: sockets.

use super::Command;
use crate::call::{Call, Done, Stop};
use crate::options::Given;
use crate::{show, units};
use model::SocketView;

pub(crate) const COMMAND: Command = Command {
    names: &["ss", "netstat"],
    summary: "Investigate sockets",
    usage: "ss [-4aHlnpstu] [FILTER]",
    misuse: 255,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

/// Long options of `ss`, and the letters they stand for.
const LONG: &[(&str, char)] = &[
    ("tcp", 't'),
    ("udp", 'u'),
    ("listening", 'l'),
    ("numeric", 'n'),
    ("processes", 'p'),
    ("all", 'a'),
    ("summary", 's'),
    ("no-header", 'H'),
];
/// Those of `netstat`.
const NETSTAT: &[(&str, char)] = &[
    ("tcp", 't'),
    ("udp", 'u'),
    ("listening", 'l'),
    ("numeric", 'n'),
    ("programs", 'p'),
    ("all", 'a'),
];
/// Words of a filter that name no port.
const WORDS: &[&str] =
    &["sport", "dport", "or", "eq", "and", "state", "listening", "established", "src"];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let host = call.host().await?;
    let netstat = call.name == "netstat";
    let given = match netstat {
        true => call.options("46aelnoprstuvWi", NETSTAT)?,
        false => call.options("046aeHilmnoOprstuwx", LONG)?,
    };
    if given.has('s') {
        let open = host.sockets.len();
        call.say(format!("Total: {}", open + 12));
        call.say(format!("TCP:   {open} (estab 0, closed 0, orphaned 0, timewait 0)"));
        return Ok(0);
    }
    if given.has('u') && !given.has('t') {
        call.say("State Recv-Q Send-Q Local Address:Port Peer Address:Port Process");
        return Ok(0);
    }
    let filter = given.operands.join(" ");
    let ports = ports(call, &filter)?;
    let listening = given.has('l') || given.has('a') || filter.contains("listening");
    let listening = listening || !ports.is_empty();
    let wanted = |s: &&SocketView| listening && (ports.is_empty() || ports.contains(&s.port));
    let shown: Vec<SocketView> = host.sockets.iter().filter(wanted).copied().collect();
    let user = call.shell.session.user.clone();
    // Whose sockets they are is told to root, and to the owner.
    let owner = |s: &SocketView| {
        let process = units::process(&host, s.pid)?;
        (user == "root" || process.user == user).then(|| show::comm(&process.command))
    };
    let rows = match netstat {
        true => {
            let rest = if given.has('l') { "only servers" } else { "servers and established" };
            call.say(format!("Active Internet connections ({rest})"));
            netstat_rows(&given, &shown, owner)
        }
        false => ss_rows(&given, &shown, owner),
    };
    call.put(&show::table(&rows, &[], "  "));
    Ok(0)
}

/// The ports of a filter: `sport = :80`, `( sport = :80 or dport = :80 )`, `state listening`.
fn ports(call: &mut Call<'_, '_>, filter: &str) -> Result<Vec<u16>, Stop> {
    let mut ports: Vec<u16> = Vec::new();
    let words = filter.split([' ', '(', ')', '=']).filter(|w| !w.is_empty());
    for word in words.filter(|w| !WORDS.contains(w)) {
        let text = word.rsplit(':').next().unwrap_or(word);
        match text.parse().ok().or_else(|| service_port(text)) {
            Some(port) => ports.push(port),
            None => {
                call.warn(format!("Error: an inet prefix is expected rather than \"{word}\"."));
                call.warn("Cannot parse dst/src address.");
                return Err(Stop::Exit(1));
            }
        }
    }
    Ok(ports)
}

fn netstat_rows(
    given: &Given,
    shown: &[SocketView],
    owner: impl Fn(&SocketView) -> Option<String>,
) -> Vec<Vec<String>> {
    let mut title = vec!["Proto", "Recv-Q", "Send-Q", "Local Address", "Foreign Address", "State"];
    if given.has('p') {
        title.push("PID/Program name");
    }
    let mut rows = vec![title.iter().map(ToString::to_string).collect()];
    for s in shown {
        let local = format!("0.0.0.0:{}", port(s.port, given.has('n')));
        let row = ["tcp", "0", "0", &local, "0.0.0.0:*", "LISTEN"];
        let mut row: Vec<String> = row.iter().map(ToString::to_string).collect();
        if given.has('p') {
            row.push(owner(s).map_or("-".into(), |name| format!("{}/{name}", s.pid)));
        }
        rows.push(row);
    }
    rows
}

fn ss_rows(
    given: &Given,
    shown: &[SocketView],
    owner: impl Fn(&SocketView) -> Option<String>,
) -> Vec<Vec<String>> {
    let skip = usize::from(given.has('t'));
    let mut title =
        vec!["Netid", "State", "Recv-Q", "Send-Q", "Local Address:Port", "Peer Address:Port"];
    if given.has('p') {
        title.push("Process");
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    if !given.has('H') {
        rows.push(title.iter().skip(skip).map(ToString::to_string).collect());
    }
    for s in shown {
        let local = format!("0.0.0.0:{}", port(s.port, given.has('n')));
        let row = ["tcp", "LISTEN", "0", "511", &local, "0.0.0.0:*"];
        let mut row: Vec<String> = row.iter().skip(skip).map(ToString::to_string).collect();
        if given.has('p')
            && let Some(name) = owner(s)
        {
            row.push(format!("users:((\"{name}\",pid={},fd=3))", s.pid));
        }
        rows.push(row);
    }
    rows
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
