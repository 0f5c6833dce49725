//! `env`, `printenv`: variables, or a program with other ones.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["env", "printenv"],
    summary: "Set each NAME to VALUE in the environment and run COMMAND",
    usage: "env [-i] [-u NAME] [NAME=VALUE]... [COMMAND [ARG]...]",
    misuse: 125,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.own_options("iu:0", &[("ignore-environment", 'i'), ("unset", 'u'), ("null", '0')])?;
    let kept = call.shell.session.vars.clone();
    if call.name == "printenv" && !given.operands.is_empty() {
        let mut code = 0;
        for name in &given.operands {
            match kept.get(name) {
                Some(value) => call.say(value),
                None => code = 1,
            }
        }
        return Ok(code);
    }
    if given.has('i') {
        call.shell.session.vars.clear();
    }
    for name in given.values('u') {
        call.shell.session.vars.remove(name);
    }
    let at = given.operands.iter().position(|o| !o.contains('=')).unwrap_or(given.operands.len());
    for one in &given.operands[..at] {
        if let Some((name, value)) = one.split_once('=') {
            call.shell.session.vars.insert(name.into(), value.into());
        }
    }
    let command = given.operands[at..].to_vec();
    let code = if command.is_empty() {
        let vars = call.shell.session.vars.iter();
        let mut lines: Vec<String> = vars.map(|(k, v)| format!("{k}={v}")).collect();
        lines.push(format!("PWD={}", call.shell.session.cwd));
        for line in lines {
            call.say(line);
        }
        Ok(0)
    } else {
        call.run(command).await
    };
    call.shell.session.vars = kept;
    code
}
