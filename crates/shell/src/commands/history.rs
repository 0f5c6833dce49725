//! `history`: the lines of this session.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["history"],
    summary: "Display the history list with line numbers",
    usage: "history [N]",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("c", &[])?;
    if given.has('c') {
        call.shell.session.history.clear();
        return Ok(0);
    }
    let most = match given.first().map(str::parse::<usize>) {
        None => usize::MAX,
        Some(Ok(most)) => most,
        Some(Err(_)) => return call.fail(1, format!("{}: numeric argument required", given.operands[0])),
    };
    let all = call.shell.session.history.clone();
    for (at, line) in all.iter().enumerate().skip(all.len().saturating_sub(most)) {
        call.say(format!("{:5}  {line}", at + 1));
    }
    Ok(0)
}
