//! `ps`: processes.

use super::Command;
use crate::call::{Call, Done};
use crate::clock::Date;
use crate::options::Given;
use crate::{show, units};
use model::{HostView, ProcessState, ProcessView};

pub(crate) const COMMAND: Command = Command {
    names: &["ps"],
    summary: "Report a snapshot of the current processes",
    usage: "ps [aux] [-eflAFww] [-p PID] [-C NAME] [-u USER] [-o FORMAT] \
         [--sort KEY] [--no-headers]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
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

async fn run(call: &mut Call<'_, '_>) -> Done {
    let host = call.host().await?;
    // The BSD way: letters without a dash.
    let bsd = call.args.first().is_some_and(|a| {
        !a.starts_with('-') && !a.is_empty() && a.chars().all(|c| "auxwefjlT".contains(c))
    });
    let letters = if bsd { call.args.remove(0) } else { String::new() };
    let given = call.options("aAdefFlHjmuxwp:C:u:U:o:k:NQ:ZT", LONG)?;
    let mut chosen: Vec<&ProcessView> = host.processes.iter().collect();
    let list = |letter: char| -> Vec<String> {
        given.values(letter).flat_map(|v| v.split([',', ' '])).map(String::from).collect()
    };
    let (pids, names, parents) = (list('p'), list('C'), list('Q'));
    let users: Vec<String> = list('u').into_iter().filter(|u| !u.is_empty()).collect();
    let everything = bsd && letters.contains(['a', 'x']) || "eAad".chars().any(|c| given.has(c));
    let selective = [&pids, &names, &parents, &users].iter().any(|list| !list.is_empty());
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
    let columns = columns(&given, bsd, &letters);
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
        rows.push(row(&host, process, &columns));
    }
    if !selective && !everything {
        // One's own: the shell of this login.
        let (user, command) = (call.shell.session.user.clone(), "-bash".into());
        let own = ProcessView { pid: 2718, parent: 2717, user, command, ..ProcessView::default() };
        rows.push(row(&host, &own, &columns));
    }
    let number = |at: &usize| is_number(&columns[*at].0);
    let right: Vec<usize> = (0..columns.len()).filter(number).collect();
    call.put(&show::table(&rows, &right, " "));
    Ok(i32::from(selective && chosen.is_empty()))
}

/// Names and titles of the columns.
fn columns(given: &Given, bsd: bool, letters: &str) -> Vec<(String, String)> {
    let format = given.values('o').collect::<Vec<_>>().join(",");
    if !format.is_empty() {
        let named = |c: &str| match c.split_once('=') {
            Some((name, title)) => (name.to_string(), title.to_string()),
            None => (c.to_string(), title(c).to_string()),
        };
        return format.split([',', ' ']).filter(|c| !c.is_empty()).map(named).collect();
    }
    standard(match bsd {
        true if letters.contains('u') => "user,pid,pcpu,pmem,vsz,rss,tty,stat,start,time,args",
        true => "pid,tty,stat,time,args",
        false if given.has('f') || given.has('F') => "uid,pid,ppid,c,stime,tty,time,args",
        false => "pid,tty,time,comm",
    })
}

fn row(host: &HostView, process: &ProcessView, columns: &[(String, String)]) -> Vec<String> {
    let cell = |(name, _): &(String, String)| cell(host, Some(process), name).unwrap_or_default();
    columns.iter().map(cell).collect()
}

fn standard(names: &str) -> Vec<(String, String)> {
    names.split(',').map(|n| (n.to_string(), title(n).to_string())).collect()
}

fn is_number(name: &str) -> bool {
    const NUMBERS: &[&str] =
        &["pid", "ppid", "pcpu", "%cpu", "pmem", "%mem", "vsz", "rss", "c", "time"];
    NUMBERS.contains(&name)
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
        "stat" => {
            let leads = p.pid == 1 || !p.unit.is_empty();
            format!("{}{}", show::state(p.state), if leads { "s" } else { "" })
        }
        "s" | "state" => show::state(p.state).to_string(),
        "start" | "stime" => started,
        "lstart" => start.format("%a %b %e %T %Y").unwrap_or_default(),
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
        "pmem" | "%mem" | "mem" | "rss" | "vsz" => {
            chosen.sort_by(|a, b| a.memory.total_cmp(&b.memory));
        }
        "start" | "lstart" | "etime" => chosen.sort_by_key(|p| p.started),
        "user" => chosen.sort_by(|a, b| a.user.cmp(&b.user)),
        _ => chosen.sort_by_key(|p| p.pid),
    }
    if descending {
        chosen.reverse();
    }
}
