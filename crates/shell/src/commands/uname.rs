//! `uname`, `arch`, `nproc`: what machine this is.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["uname", "arch", "nproc"],
    summary: "Print certain system information",
    usage: "uname [-amnoprsv]",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let host = call.shell.prompt().await?;
    match call.name.as_str() {
        "arch" => call.say("x86_64"),
        "nproc" => call.say(format!("{:.0}", host.cpu_cores.max(1.0))),
        _ => {
            let long = &[("all", 'a'), ("kernel-name", 's'), ("nodename", 'n'), ("kernel-release", 'r'), ("machine", 'm')];
            let given = call.options("amnoprsvi", long)?;
            let parts = [
                ('s', "Linux"),
                ('n', &host.name),
                ('r', "5.15.0-91-generic"),
                ('v', "#101-Ubuntu SMP Tue Nov 14 13:30:08 UTC 2023"),
                ('m', "x86_64"),
                ('o', "GNU/Linux"),
            ];
            let none = !"amnoprsvi".chars().any(|c| given.has(c));
            let wanted = |c: char| given.has('a') || given.has(c) || none && c == 's';
            let shown: Vec<_> = parts.iter().filter(|(c, _)| wanted(*c)).map(|(_, t)| *t).collect();
            call.say(shown.join(" "));
        }
    }
    Ok(0)
}
