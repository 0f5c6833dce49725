//! `touch`: makes empty files.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["touch"],
    summary: "Update the modification times of each FILE to the current time",
    usage: "touch [-acm] FILE...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("acm", &[("no-create", 'c')])?;
    if given.operands.is_empty() {
        return call.misuse("missing file operand");
    }
    let mut code = 0;
    for name in given.operands.clone() {
        let path = call.path(&name);
        let tree = call.tree().await?;
        if tree.is_folder(&path) || given.has('c') && !tree.exists(&path) {
            continue;
        }
        let told = match call.shell.writable(&path).await? {
            Ok(()) => {
                let args = [("path", path.into()), ("text", "".into()), ("append", true.into())];
                call.order("write", &args).await?
            }
            Err(reason) => Err(reason.to_string()),
        };
        if let Err(reason) = told {
            call.complain(format!("cannot touch '{name}': {reason}"));
            code = 1;
        }
    }
    Ok(code)
}
