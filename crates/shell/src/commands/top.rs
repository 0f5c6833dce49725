//! `top`, `htop`: one picture of the processes.

use super::Command;
use crate::call::{Call, Done};
use crate::show;
use model::{ProcessState, ProcessView};

pub(crate) const COMMAND: Command = Command {
    names: &["top", "htop"],
    summary: "Display Linux processes, once",
    usage: "top [-bciS] [-n COUNT] [-d SECONDS] [-o FIELD] [-p PID] [-u USER]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("bciHSn:d:o:p:u:w:", &[])?;
    let host = call.host().await?;
    let date = call.shell.date().await?;
    let count = |state: ProcessState| host.processes.iter().filter(|p| p.state == state).count();
    let busy = (100.0 * host.cpu_used / host.cpu_cores.max(0.1)).min(100.0);
    let mib = |bytes: f64| bytes / 1_048_576.0;
    call.say(format!("top - {}", super::uptime::line(&host, &date.time())));
    call.say(format!(
        "Tasks: {} total, {:3} running, {:3} sleeping, {:3} stopped, {:3} zombie",
        host.processes.len(),
        count(ProcessState::Running),
        count(ProcessState::Sleeping),
        count(ProcessState::Stopped),
        count(ProcessState::Zombie)
    ));
    call.say(format!("%Cpu(s): {:4.1} us, {:4.1} sy,  0.0 ni, {:4.1} id,  0.0 wa,  0.0 \
         hi,  0.0 si,  0.0 st", busy * 0.9, busy * 0.1, 100.0 - busy));
    let free = mib((host.memory - host.memory_used).max(0.0));
    call.say(format!("MiB Mem : {:8.1} total, {:8.1} free, {:8.1} used, {:8.1} buff/cache", mib(host.memory), free * 0.7, mib(host.memory_used), free * 0.3));
    call.say(format!("MiB Swap:      0.0 total,      0.0 free,      0.0 used. {free:8.1} \
         avail Mem \n"));
    let mut chosen: Vec<&ProcessView> = host.processes.iter().collect();
    if let Some(pids) = given.value('p') {
        chosen.retain(|p| pids.split(',').any(|t| t == p.pid.to_string()));
    }
    if let Some(user) = given.value('u') {
        chosen.retain(|p| p.user == user);
    }
    match given.value('o').map(|f| f.trim_start_matches(['+', '-'])) {
        Some("%MEM" | "RES") => chosen.sort_by(|a, b| b.memory.total_cmp(&a.memory)),
        None | Some("%CPU") => chosen.sort_by(|a, b| b.cpu_cores.total_cmp(&a.cpu_cores)),
        Some("PID") => chosen.sort_by_key(|p| p.pid),
        Some(other) => return call.fail(1, format!("unrecognized field name '{other}'")),
    }
    call.say("    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND");
    for p in chosen.into_iter().take(40) {
        let memory = if p.state == ProcessState::Zombie { 0.0 } else { p.memory };
        let (user, res) = (p.user.chars().take(8).collect::<String>(), show::human(memory));
        let command = if given.has('c') { p.command.clone() } else { show::comm(&p.command) };
        let age = (p.cpu_cores * host.now.since(p.started).max(0) as f64) as i64;
        call.say(format!(
            "{:>7} {user:<8}  20   0 {:>7} {res:>6} {:>6} {} {:5.1} {:5.1} \
                 {:>4}:{:02}.00 {command}",
            p.pid,
            show::human(memory * 2.0),
            show::human(memory * 0.2),
            show::state(p.state),
            100.0 * p.cpu_cores,
            100.0 * memory / host.memory.max(1.0),
            age / 60,
            age % 60
        ));
    }
    if !given.has('b') && !given.has('n') {
        call.warn("top: this terminal shows one picture; run it again for another");
    }
    Ok(0)
}
