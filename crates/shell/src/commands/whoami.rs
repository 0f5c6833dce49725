//! `whoami`, `who`, `users`: who is logged in.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["whoami", "who", "users", "logname"],
    summary: "Print the user name associated with the current effective user ID",
    usage: "whoami",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("aHmq", &[])?;
    if let Some(operand) = given.first() {
        return call.misuse(format!("extra operand '{operand}'"));
    }
    let user = call.shell.session.user.clone();
    if call.name == "who" {
        let date = call.shell.date().await?;
        call.say(format!("{user:<8} pts/0        {} {:02}:{:02} (10.0.0.2)", date.iso(), date.hour, date.minute));
    } else {
        call.say(user);
    }
    Ok(0)
}
