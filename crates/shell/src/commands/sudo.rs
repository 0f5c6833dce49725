//! `sudo`, `su`: a program as another user.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["sudo", "su", "doas"],
    summary: "Execute a command as another user",
    usage: "sudo [-bEHiknSs] [-u USER] COMMAND [ARG]...",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = match call.name.as_str() {
        "su" => call.own_options("lmpc:s:", &[("login", 'l'), ("command", 'c')])?,
        _ => call.own_options("ABbEHiKklnPSsu:g:v", &[("user", 'u'), ("login", 'i'), ("non-interactive", 'n'), ("preserve-env", 'E')])?,
    };
    let mut command = given.operands.clone();
    let mut user = given.value('u').unwrap_or("root").to_string();
    if call.name == "su" {
        command.retain(|o| o != "-");
        if let Some(first) = command.first().cloned() {
            user = first;
            command.remove(0);
        }
        let line = given.value('c').map(str::to_string).or_else(|| {
            let given = command.first().is_some_and(|first| first == "-c");
            command.get(1).filter(|_| given).cloned()
        });
        command = line.map_or(Vec::new(), |line| vec!["bash".into(), "-c".into(), line]);
    }
    if given.has('l') && call.name != "su" {
        let (own, host) = (call.shell.session.user.clone(), call.host().await?.name.clone());
        call.say(format!("User {own} may run the following commands on {host}:\n    (ALL : \
             ALL) NOPASSWD: ALL"));
        return Ok(0);
    }
    if given.has('v') || given.has('k') || given.has('K') {
        return Ok(0);
    }
    // `sudo VAR=value command`.
    let at = command.iter().position(|o| !o.contains('=')).unwrap_or(command.len());
    let assigned: Vec<String> = command.drain(..at).collect();
    if command.is_empty() {
        if given.has('s') || given.has('i') || call.name == "su" {
            return call.fail(1, "a shell of another user is not supported by this terminal; name a \
                 command");
        }
        return call.misuse("");
    }
    if !assigned.is_empty() {
        command = std::iter::once("env".to_string()).chain(assigned).chain(command).collect();
    }
    let name = command[0].clone();
    let program = name.rsplit('/').next().unwrap_or(&name);
    let builtin = matches!(program, "cd" | "export" | "exit" | "eval");
    if builtin || super::find(program).is_none() {
        return call.fail(1, format!("{name}: command not found"));
    }
    let own = std::mem::replace(&mut call.shell.session.user, user);
    let code = call.run(command).await;
    call.shell.session.user = own;
    code
}
