//! `exit`, `break`, `continue`, `return`: jumps out of the order.

use super::Command;
use crate::call::{Call, Done};
use crate::interpreter::Jump;

pub(crate) const COMMAND: Command = Command {
    names: &["exit", "logout", "return", "break", "continue"],
    summary: "Leave a line or a loop; the session stays",
    usage: "exit [N]",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    call.shell.jump = Some(match call.name.as_str() {
        "break" => Jump::Break,
        "continue" => Jump::Continue,
        _ => Jump::Exit,
    });
    match call.args.first().map(|a| a.parse::<i32>()) {
        None if matches!(call.name.as_str(), "break" | "continue") => Ok(0),
        None => Ok(call.shell.session.status),
        Some(Ok(_)) if matches!(call.name.as_str(), "break" | "continue") => Ok(0),
        Some(Ok(code)) => Ok(code & 255),
        Some(Err(_)) => {
            let text = format!("bash: {}: {}: numeric argument required", call.name, call.args[0]);
            call.warn(text);
            Ok(2)
        }
    }
}
