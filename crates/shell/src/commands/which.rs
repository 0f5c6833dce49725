//! `which`, `type`, `command`, `whereis`, `hash`: what a name runs.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["which", "type", "command", "whereis", "hash", "builtin", "exec", "eval"],
    summary: "Locate a command, or run it",
    usage: "which [-a] NAME... | command [-vV] NAME [ARG]...",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

/// Names that the shell itself answers.
const BUILTINS: &[&str] = &[
    ":", "[", "alias", "break", "builtin", "cd", "command", "continue", "declare", "echo", "eval",
    "exec", "exit", "export", "false", "hash", "help", "history", "kill", "local", "printf", "pwd",
    "read", "readonly", "return", "set", "shopt", "test", "true", "type", "ulimit", "umask",
    "unalias", "unset", "wait",
];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let asks = call.args.first().is_some_and(|a| a.starts_with('-'));
    if matches!(call.name.as_str(), "builtin" | "exec") || call.name == "command" && !asks {
        return match call.args.is_empty() {
            true => Ok(0),
            false => call.run(call.args.clone()).await,
        };
    }
    if call.name == "eval" {
        let line = call.args.join(" ");
        call.shell.fuel.enter()?;
        let output = call.shell.line(&line).await?;
        call.shell.fuel.leave();
        return Ok(call.take(output));
    }
    let mut code = 0;
    for name in call.args.clone().iter().filter(|a| !a.starts_with('-')) {
        let builtin = BUILTINS.contains(&name.as_str());
        let path = path(name);
        let known = super::find(name).is_some();
        let line = match (call.name.as_str(), known) {
            ("whereis", true) => format!("{name}: {path}"),
            ("whereis", false) => format!("{name}:"),
            ("hash", true) => continue,
            ("type", true) if builtin => format!("{name} is a shell builtin"),
            ("type", true) => format!("{name} is {path}"),
            ("command", true) if builtin => name.clone(),
            (_, true) => path,
            ("type" | "hash", false) => {
                let text = format!("bash: {}: {name}: not found", call.name);
                call.warn(text);
                code = 1;
                continue;
            }
            _ => {
                code = 1;
                continue;
            }
        };
        call.say(line);
    }
    Ok(code)
}

fn path(name: &str) -> String {
    let folder = match name {
        "nginx" | "chronyd" | "logrotate" | "service" => "/usr/sbin",
        "kubectl" => "/usr/local/bin",
        _ => "/usr/bin",
    };
    format!("{folder}/{name}")
}
