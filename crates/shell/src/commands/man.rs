//! `man`, `help`, `info`: how programs are called.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["man", "help", "info", "apropos", "whatis"],
    summary: "Show how programs are called",
    usage: "man [NAME]... | help",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    // Options and section numbers name no page.
    let name = |a: &&String| !a.starts_with('-') && a.parse::<u8>().is_err();
    let names: Vec<String> = call.args.iter().filter(name).cloned().collect();
    if names.is_empty() {
        if call.name == "man" {
            call.warn("What manual page do you want?\nFor example, try 'man man'.");
            return Ok(1);
        }
        call.say("Programs of this terminal; `man NAME` tells how one is called:");
        for command in super::all() {
            call.say(format!("  {:<12} {}", command.names[0], command.summary));
        }
        return Ok(0);
    }
    let mut code = 0;
    for name in names {
        match super::find(&name) {
            Some(command) => {
                let upper = name.to_uppercase();
                call.say(format!("{upper}(1)\n\nNAME\n    {name} - {}\n\nSYNOPSIS\n    {}\n", command.summary, command.usage));
                let others = command.names.iter().filter(|n| **n != name);
                let others: Vec<_> = others.copied().collect();
                if !others.is_empty() {
                    call.say(format!("SEE ALSO\n    {}\n", others.join(", ")));
                }
            }
            None => {
                call.warn(format!("No manual entry for {name}"));
                code = 16;
            }
        }
    }
    Ok(code)
}
