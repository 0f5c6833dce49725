//! `bash`, `sh`: a line or a script in a shell of its own.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["bash", "sh", "source", ".", "dash"],
    summary: "Run a line or a script",
    usage: "bash [-eux] -c LINE | bash FILE",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.own_options("c:euxlio:", &[])?;
    let line = match (given.value('c'), given.first()) {
        (Some(line), _) => line.to_string(),
        (None, Some(name)) => match call.shell.content(name).await? {
            Ok(text) => text,
            Err(reason) => return call.fail(127, format!("{name}: {reason}")),
        },
        (None, None) => call.stdin(),
    };
    let own = matches!(call.name.as_str(), "source" | ".");
    let kept = (call.shell.session.cwd.clone(), call.shell.session.vars.clone());
    call.shell.fuel.enter()?;
    let output = call.shell.line(&line).await?;
    call.shell.fuel.leave();
    if !own {
        (call.shell.session.cwd, call.shell.session.vars) = kept;
        call.shell.land();
    }
    Ok(call.take(output))
}
