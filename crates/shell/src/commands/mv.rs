//! `mv`: another path for what is there. On one file system it frees nothing.

use super::Command;
use crate::call::{Call, Done, Stop};
use crate::tree::{self, Access, Node};

pub(crate) const COMMAND: Command = Command {
    names: &["mv"],
    summary: "Rename SOURCE to DEST, or move SOURCE(s) to DIRECTORY",
    usage: "mv [-finTuv] SOURCE... DEST",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let long = &[("force", 'f'), ("no-clobber", 'n'), ("verbose", 'v'), ("target-directory", 't')];
    let given = call.options("finTuvt:", long)?;
    let Some((sources, target)) = pair(call, &given).await? else { return Ok(1) };
    let mut code = 0;
    for name in sources {
        let from = call.path(&name);
        let Some(to) = destination(call, &name, &target).await? else {
            code = 1;
            continue;
        };
        let tree = call.tree().await?;
        let user = call.shell.session.user.clone();
        let reason = match tree.at(&from) {
            Node::Missing => {
                call.complain(format!("cannot stat '{name}': No such file or directory"));
                code = 1;
                continue;
            }
            _ if from == to => {
                call.complain(format!("'{name}' and '{target}' are the same file"));
                code = 1;
                continue;
            }
            Node::Device => Some("Operation not permitted"),
            Node::Folder(None) if !tree.files().any(|f| f.path.starts_with(&format!("{from}/"))) => {
                Some("Device or resource busy")
            }
            Node::Folder(_) if to.starts_with(&format!("{from}/")) => Some("Invalid argument"),
            _ if matches!(tree.at(&to), Node::Device) => Some("Device or resource busy"),
            _ if !tree.may(&user, &from, Access::Write) => Some("Permission denied"),
            _ => None,
        };
        if reason.is_none() && given.has('n') && tree.exists(&to) {
            continue;
        }
        let told = match reason {
            Some(reason) => Err(reason.to_string()),
            None => {
                let args = [("from", from.as_str().into()), ("to", to.as_str().into())];
                call.order("rename", &args).await?
            }
        };
        match told {
            Ok(()) if given.has('v') => call.say(format!("renamed '{name}' -> '{target}'")),
            Ok(()) => {}
            Err(reason) => {
                call.complain(format!("cannot move '{name}' to '{target}': {reason}"));
                code = 1;
            }
        }
    }
    Ok(code)
}

/// Sources and target, checked; `None`: it was said what is wrong.
pub(super) async fn pair(
    call: &mut Call<'_, '_>,
    given: &crate::options::Given,
) -> Result<Option<(Vec<String>, String)>, Stop> {
    let mut names = given.operands.clone();
    if let Some(target) = given.value('t') {
        names.push(target.to_string());
    }
    let Some(target) = names.pop() else { return call.misuse("missing file operand") };
    if names.is_empty() {
        return call.misuse(format!("missing destination file operand after '{target}'"));
    }
    let path = call.path(&target);
    let tree = call.tree().await?;
    if names.len() > 1 && !tree.is_folder(&path) {
        call.complain(format!("target '{target}' is not a directory"));
        return Ok(None);
    }
    Ok(Some((names, target)))
}

/// The path that `name` gets at `target`; `None`: it cannot be there.
pub(super) async fn destination(
    call: &mut Call<'_, '_>,
    name: &str,
    target: &str,
) -> Result<Option<String>, Stop> {
    let to = call.path(target);
    let tree = call.tree().await?;
    let to = if tree.is_folder(&to) { tree::join(&to, tree::name(&call.path(name))) } else { to };
    let user = call.shell.session.user.clone();
    let reason = match tree.at(&to) {
        _ if to.len() > 200 => Some("File name too long"),
        Node::Missing if !tree.is_folder(tree::parent(&to)) => Some("No such file or directory"),
        _ if !tree.may(&user, &to, Access::Write) => Some("Permission denied"),
        _ => None,
    };
    if let Some(reason) = reason {
        let verb = if call.name == "cp" { "create regular file" } else { "move" };
        let text = match call.name.as_str() {
            "cp" => format!("cannot {verb} '{target}': {reason}"),
            _ => format!("cannot {verb} '{name}' to '{target}': {reason}"),
        };
        call.complain(text);
        return Ok(None);
    }
    Ok(Some(to))
}
