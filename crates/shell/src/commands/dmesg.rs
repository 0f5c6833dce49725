//! `dmesg`: what the kernel of the host said.

use super::Command;
use crate::call::{Call, Done};
use crate::clock::{Date, UPTIME};
use crate::interpreter::Halt;
use model::{Answer, Query, Severity};

pub(crate) const COMMAND: Command = Command {
    names: &["dmesg"],
    summary: "Display the kernel ring buffer",
    usage: "dmesg [-HTwx] [-l LEVELS]",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("HTwxl:P", &[("ctime", 'T'), ("human", 'H'), ("level", 'l'), ("follow", 'w'), ("nopager", 'P')])?;
    if !call.shell.is_root() {
        return call.fail(1, "read kernel buffer failed: Operation not permitted");
    }
    let host = call.host().await?;
    for (tick, text) in found(call).await? {
        let date = Date::at(tick);
        let stamp = match given.has('T') {
            true => format!("{} {} {:2} {} {}", date.weekday(), date.month_name(), date.day, date.time(), date.year),
            false => format!("{:12.6}", (UPTIME + tick.0) as f64),
        };
        call.say(format!("[{stamp}] {text}"));
    }
    let disk = host.disk;
    if disk.used >= disk.capacity * 0.999 {
        call.say(format!("[{:12.6}] EXT4-fs warning (device sda1): ext4_da_write_begin: no \
             space left", (UPTIME + host.now.0) as f64));
    }
    Ok(0)
}

/// What the host noted about processes that ran out of memory or crashed.
async fn found(call: &mut Call<'_, '_>) -> Result<Vec<(model::Tick, String)>, Halt> {
    let host = call.host().await?;
    let query = Query::Logs {
        from: host.now.plus(-86_400),
        to: host.now,
        severity: Severity::Error,
        contains: String::new(),
        limit: 200,
    };
    let of = call.shell.session.host;
    let Answer::Logs(lines) = call.shell.ask(of, query).await? else { return Ok(Vec::new()) };
    let kernel = |text: &str| {
        let name = text.split(':').next().unwrap_or_default().to_string();
        if text.contains("out of memory") {
            return Some(format!("Out of memory: Killed process ({name})"));
        }
        text.contains("signal 11").then(|| format!("{name}: segfault at 0 ip 0 sp 0 error 4"))
    };
    Ok(lines.into_iter().filter_map(|l| kernel(&l.message).map(|text| (l.tick, text))).collect())
}

/// The same as the journal has it.
pub(super) async fn lines(call: &mut Call<'_, '_>) -> Result<Vec<String>, Halt> {
    let name = call.host().await?.name.clone();
    let line = |(tick, text): (model::Tick, String)| {
        format!("{} {name} kernel: {text}", Date::at(tick).journal())
    };
    Ok(found(call).await?.into_iter().map(line).collect())
}
