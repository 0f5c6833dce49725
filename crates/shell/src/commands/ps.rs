//! `ps`: processes.

use super::Command;
use crate::call::{Call, Done};
use crate::clock::Date;
use crate::{show, units};
use model::{HostView, ProcessState, ProcessView};

pub(crate) const COMMAND: Command = Command {
    names: &["ps"],
    summary: "Report a snapshot of the current processes",
    usage: "ps [aux] [-eflAFww] [-p PID] [-C NAME] [-u USER] [-o FORMAT] [--sort KEY] [--no-headers]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let host = call.host().await?;
    // The BSD way: letters without a dash.
    let bsd = call.args.first().is_some_and(|a| {
        !a.starts_with('-') && !a.is_empty() && a.chars().all(|c| "auxwefjlT".contains(c))
    });
    let letters = if bsd { call.args.remove(0) } else { String::new() };
    let long = &[
        ("sort", 'k'),
        ("no-headers", 'N'),
        ("no-heading", 'N'),
        ("pid", 'p'),
        ("forest", 'H'),
        ("ppid", 'Q'),
        ("user", 'u'),
        ("format", 'o'),
        ("cols", 'Z'),
    ];
    let given = call.options("aAdefFlHjmuxwp:C:u:U:o:k:NQ:ZT", long)?;
    let mut chosen: Vec<&ProcessView> = host.processes.iter().collect();
    let list = |letter: char| -> Vec<String> {
        given.values(letter).flat_map(|v| v.split([',', ' '])).map(String::from).collect()
    };
    let (pids, names, parents) = (list('p'), list('C'), list('Q'));
    let users: Vec<String> = list('u').into_iter().filter(|u| !u.is_empty()).collect();
    let everything = bsd && letters.contains(['a', 'x']) || given.has('e') || given.has('A') || given.has('a') || given.has('d');
    let selective = !(pids.is_empty() && names.is_empty() && parents.is_empty() && users.is_empty());
    if let Some(bad) = pids.iter().find(|p| p.parse::<u32>().is_err()) {
        call.warn("error: process ID list syntax error");
        return call.misuse(format!("bad process id '{bad}'"));
    }
    if selective {
        chosen.retain(|p| {
            pids.contains(&p.pid.to_string())
                || names.contains(&show::comm(&p.command))
                || parents.contains(&p.parent.to_string())
                || users.contains(&p.user)
        });
    } else if !everything {
        chosen.clear();
    }
    if let Some(key) = given.value('k') {
        sort(&mut chosen, key);
    }
    let format = given.values('o').collect::<Vec<_>>().join(",");
    let columns: Vec<(String, String)> = match () {
        () if !format.is_empty() => format
            .split([',', ' '])
            .filter(|c| !c.is_empty())
            .map(|c| match c.split_once('=') {
                Some((name, title)) => (name.to_string(), title.to_string()),
                None => (c.to_string(), title(c).to_string()),
            })
            .collect(),
        () if bsd && letters.contains('u') => standard("user,pid,pcpu,pmem,vsz,rss,tty,stat,start,time,args"),
        () if bsd => standard("pid,tty,stat,time,args"),
        () if given.has('f') || given.has('F') => standard("uid,pid,ppid,c,stime,tty,time,args"),
        () => standard("pid,tty,time,comm"),
    };
    if let Some((bad, _)) = columns.iter().find(|(name, _)| cell(&host, None, name).is_none()) {
        let text = format!("error: unknown user-defined format specifier \"{bad}\"");
        call.warn(text);
        return call.misuse("");
    }
    let mut rows = Vec::new();
    if !given.has('N') && columns.iter().any(|(_, title)| !title.is_empty()) {
        rows.push(columns.iter().map(|(_, title)| title.clone()).collect());
    }
    for process in &chosen {
        let cells = columns.iter().map(|(name, _)| cell(&host, Some(process), name).unwrap_or_default());
        rows.push(cells.collect::<Vec<String>>());
    }
    if !selective && !everything {
        // One's own: the shell of this login.
        let own = ProcessView { pid: 2718, parent: 2717, user: call.shell.session.user.clone(), command: "-bash".into(), ..ProcessView::default() };
        let cells = columns.iter().map(|(name, _)| cell(&host, Some(&own), name).unwrap_or_default());
        rows.push(cells.collect());
    }
    let right: Vec<usize> = columns.iter().enumerate().filter(|(_, (name, _))| is_number(name)).map(|(at, _)| at).collect();
    call.put(&show::table(&rows, &right, " "));
    Ok(i32::from(selective && chosen.is_empty()))
}

fn standard(names: &str) -> Vec<(String, String)> {
    names.split(',').map(|n| (n.to_string(), title(n).to_string())).collect()
}

fn is_number(name: &str) -> bool {
    matches!(name, "pid" | "ppid" | "pcpu" | "%cpu" | "pmem" | "%mem" | "vsz" | "rss" | "c" | "time")
}

fn title(name: &str) -> &str {
    match name {
        "pid" => "PID",
        "ppid" => "PPID",
        "pcpu" | "%cpu" => "%CPU",
        "pmem" | "%mem" => "%MEM",
        "vsz" => "VSZ",
        "rss" => "RSS",
        "tty" | "tt" => "TTY",
        "stat" => "STAT",
        "s" | "state" => "S",
        "start" => "START",
        "stime" => "STIME",
        "lstart" => "STARTED",
        "etime" => "ELAPSED",
        "time" => "TIME",
        "comm" | "ucmd" => "CMD",
        "args" | "cmd" | "command" => "COMMAND",
        "user" | "euser" => "USER",
        "uid" => "UID",
        "unit" => "UNIT",
        "c" => "C",
        other => other,
    }
}

/// One cell; `None`: there is no such column.
fn cell(host: &HostView, process: Option<&ProcessView>, name: &str) -> Option<String> {
    let known = title(name) != name;
    let Some(p) = process else { return known.then(String::new) };
    let age = host.now.since(p.started).max(0);
    let gone = p.state == ProcessState::Zombie;
    let memory = if gone { 0.0 } else { p.memory };
    let start = Date::at(p.started);
    let started = match age {
        0..86_400 => format!("{:02}:{:02}", start.hour, start.minute),
        _ => format!("{}{:02}", start.month_name(), start.day),
    };
    let busy = (p.cpu_cores * age as f64) as i64;
    Some(match name {
        "pid" => p.pid.to_string(),
        "ppid" => p.parent.to_string(),
        "pcpu" | "%cpu" => format!("{:.1}", 100.0 * p.cpu_cores),
        "pmem" | "%mem" => format!("{:.1}", 100.0 * memory / host.memory.max(1.0)),
        "vsz" => format!("{:.0}", memory * 2.0 / 1024.0),
        "rss" => format!("{:.0}", memory / 1024.0),
        "tty" | "tt" => if p.command == "-bash" { "pts/0" } else { "?" }.into(),
        "stat" => format!("{}{}", show::state(p.state), if p.pid == 1 || !p.unit.is_empty() { "s" } else { "" }),
        "s" | "state" => show::state(p.state).to_string(),
        "start" | "stime" => started,
        "lstart" => format!("{} {} {:2} {} {}", start.weekday(), start.month_name(), start.day, start.time(), start.year),
        "etime" => format!("{:02}:{:02}:{:02}", age / 3600, age / 60 % 60, age % 60),
        "time" => format!("{:02}:{:02}:{:02}", busy / 3600, busy / 60 % 60, busy % 60),
        "comm" | "ucmd" => match gone {
            true => format!("{} <defunct>", show::comm(&p.command)),
            false => show::comm(&p.command),
        },
        "args" | "cmd" | "command" => units::command(p),
        "user" | "euser" | "uid" => p.user.clone(),
        "unit" => if p.unit.is_empty() { "-".into() } else { format!("{}.service", p.unit) },
        "c" => format!("{:.0}", 100.0 * p.cpu_cores),
        _ => return None,
    })
}

fn sort(chosen: &mut [&ProcessView], key: &str) {
    let descending = key.starts_with('-');
    match key.trim_start_matches(['-', '+']) {
        "pcpu" | "%cpu" | "cpu" => chosen.sort_by(|a, b| a.cpu_cores.total_cmp(&b.cpu_cores)),
        "pmem" | "%mem" | "mem" | "rss" | "vsz" => chosen.sort_by(|a, b| a.memory.total_cmp(&b.memory)),
        "start" | "lstart" | "etime" => chosen.sort_by_key(|p| p.started),
        "user" => chosen.sort_by(|a, b| a.user.cmp(&b.user)),
        _ => chosen.sort_by_key(|p| p.pid),
    }
    if descending {
        chosen.reverse();
    }
}
