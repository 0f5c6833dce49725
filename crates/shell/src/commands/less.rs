//! `less`, `more`: a file, without a keyboard to page through it.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["less", "more", "most", "zless", "view"],
    summary: "Show a file; this terminal has no keys, so it comes at once",
    usage: "less [-FiMNnRSX] [FILE]...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    call.args.retain(|a| !a.starts_with('+'));
    let given = call.options("FiIMNnRrSXeEgsG", &[])?;
    if given.operands.is_empty() && call.shell.stdin.is_none() {
        call.warn("Missing filename (\"less --help\" for help)");
        return Ok(1);
    }
    let (inputs, complete) = call.inputs(&given.operands).await?;
    for (_, text) in inputs {
        call.put(&text);
    }
    Ok(i32::from(!complete))
}
