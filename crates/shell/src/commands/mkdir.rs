//! `mkdir`: makes folders.

use super::Command;
use crate::call::{Call, Done};
use crate::tree::{self, Access, Node};

pub(crate) const COMMAND: Command = Command {
    names: &["mkdir"],
    summary: "Create the DIRECTORY(ies), if they do not already exist",
    usage: "mkdir [-pv] [-m MODE] DIRECTORY...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("pvm:", &[("parents", 'p'), ("verbose", 'v'), ("mode", 'm')])?;
    if given.operands.is_empty() {
        return call.misuse("missing operand");
    }
    let mut code = 0;
    for name in given.operands.clone() {
        let path = call.path(&name);
        let tree = call.tree().await?;
        let parent = tree::parent(&path);
        let user = call.shell.session.user.clone();
        let told = match tree.at(&path) {
            Node::Folder(_) if given.has('p') => continue,
            Node::Missing if path.len() > 200 => Err("File name too long".into()),
            Node::Missing if matches!(tree.at(parent), Node::File(_)) => {
                Err("Not a directory".into())
            }
            Node::Missing if !tree.is_folder(parent) && !given.has('p') => {
                Err("No such file or directory".into())
            }
            Node::Missing if !tree.may(&user, &path, Access::Write) => {
                Err("Permission denied".into())
            }
            Node::Missing => call.order("make_folder", &[("path", path.as_str().into())]).await?,
            _ => Err("File exists".into()),
        };
        match told {
            Ok(()) if given.has('v') => {
                let line = format!("mkdir: created directory '{name}'");
                call.say(line);
            }
            Ok(()) => {}
            Err(reason) => {
                call.complain(format!("cannot create directory '{name}': {reason}"));
                code = 1;
            }
        }
    }
    Ok(code)
}
