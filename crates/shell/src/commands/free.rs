//! `free`: memory.

use super::Command;
use crate::call::{Call, Done};
use crate::show;

pub(crate) const COMMAND: Command = Command {
    names: &["free"],
    summary: "Display the amount of free and used memory in the system",
    usage: "free [-bkmghtw] [-s SECONDS] [-c COUNT]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let long = &[("bytes", 'b'), ("kibi", 'k'), ("mebi", 'm'), ("gibi", 'g'), ("human", 'h'), ("total", 't'), ("wide", 'w')];
    let given = call.options("bkmghtws:c:l", long)?;
    let host = call.host().await?;
    let unit = |bytes: f64| match given.last("bkmgh") {
        Some('b') => format!("{bytes:.0}"),
        Some('m') => format!("{:.0}", bytes / 1_048_576.0),
        Some('g') => format!("{:.0}", bytes / 1_073_741_824.0),
        Some('h') => format!("{}i", show::human(bytes)),
        _ => format!("{:.0}", bytes / 1024.0),
    };
    let (all, used) = (host.memory, host.memory_used);
    let cache = (all - used).max(0.0) * 0.3;
    let free = (all - used - cache).max(0.0);
    call.say("               total        used        free      shared  buff/cache   available");
    let line = |name: &str, cells: &[f64]| {
        let cells: Vec<_> = cells.iter().map(|c| format!("{:>11}", unit(*c))).collect();
        format!("{name:<8}{}", cells.join(" ")).trim_end().to_string()
    };
    call.say(line("Mem:", &[all, used, free, 0.0, cache, free + cache]));
    call.say(line("Swap:", &[0.0, 0.0, 0.0]));
    if given.has('t') {
        call.say(line("Total:", &[all, used, free]));
    }
    Ok(0)
}
