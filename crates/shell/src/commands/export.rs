//! `export`, `unset`, `set`, `declare`, `local`: variables of the shell.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["export", "unset", "set", "declare", "local", "readonly", "alias", "unalias", "shopt", "ulimit", "umask"],
    summary: "Set, unset or list variables of the shell",
    usage: "export [NAME[=VALUE]]... | unset NAME...",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let args = call.args.clone();
    match call.name.as_str() {
        "unset" => {
            for name in args.iter().filter(|a| !a.starts_with('-')) {
                call.shell.session.vars.remove(name);
            }
        }
        "umask" => call.say("0022"),
        "set" if !args.is_empty() => {
            // `set -e`, `set -o pipefail`: accepted for scripts, as one line has one result.
            let known = |a: &&String| {
                a.starts_with(['-', '+'])
                    || matches!(a.as_str(), "pipefail" | "errexit" | "nounset")
            };
            if let Some(bad) = args.iter().find(|a| !known(a)) {
                call.warn(format!("bash: set: {bad}: positional parameters are not supported by this \
                     terminal"));
                return Ok(2);
            }
        }
        "alias" | "unalias" | "shopt" | "ulimit" if !args.is_empty() => {
            let name = call.name.clone();
            call.warn(format!("bash: {name}: not supported by this terminal"));
            return Ok(2);
        }
        "alias" | "unalias" | "shopt" | "ulimit" => {}
        name => {
            let names: Vec<&String> = args.iter().filter(|a| !a.starts_with('-')).collect();
            if names.is_empty() {
                let prefix = if name == "set" { "" } else { "declare -x " };
                let vars = call.shell.session.vars.iter();
                let lines: Vec<_> = vars.map(|(k, v)| format!("{prefix}{k}=\"{v}\"")).collect();
                for line in lines {
                    call.say(line);
                }
            }
            for one in names {
                let (name, value) = match one.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (one.as_str(), None),
                };
                let valid = !name.is_empty()
                    && !name.starts_with(|c: char| c.is_ascii_digit())
                    && name.chars().all(|c| c.is_alphanumeric() || c == '_');
                if !valid {
                    call.warn(format!("bash: export: `{one}': not a valid identifier"));
                    return Ok(1);
                }
                if let Some(value) = value {
                    call.shell.session.vars.insert(name.into(), value.into());
                }
            }
        }
    }
    Ok(0)
}
