//! `cd`, `pwd`: where one is.

use super::Command;
use crate::call::{Call, Done};
use crate::tree::Node;

pub(crate) const COMMAND: Command = Command {
    names: &["cd", "pwd"],
    summary: "Change or print the working directory",
    usage: "cd [DIR] | pwd",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let name = std::mem::replace(&mut call.name, "bash: cd".into());
    let given = call.options("LP", &[])?;
    if name == "pwd" {
        let cwd = call.shell.session.cwd.clone();
        call.say(cwd);
        return Ok(0);
    }
    let vars = &call.shell.session.vars;
    let target = match given.first() {
        None => vars.get("HOME").cloned().unwrap_or("/".into()),
        Some("-") => vars.get("OLDPWD").cloned().unwrap_or("/".into()),
        Some(target) => target.to_string(),
    };
    if given.operands.len() > 1 {
        return call.fail(1, "too many arguments");
    }
    let path = call.path(&target);
    let home = call.shell.session.vars.get("HOME") == Some(&path);
    match call.tree().await?.at(&path) {
        Node::Missing if !home => return call.fail(1, format!("{target}: No such file or directory")),
        Node::File(_) | Node::Device => return call.fail(1, format!("{target}: Not a directory")),
        _ => {}
    }
    if given.first() == Some("-") {
        call.say(&path);
    }
    let old = std::mem::replace(&mut call.shell.session.cwd, path);
    call.shell.session.vars.insert("OLDPWD".into(), old);
    Ok(0)
}
