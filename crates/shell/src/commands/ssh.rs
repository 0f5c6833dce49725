//! `ssh`: a line on another host of the system.

use super::{Command, dig};
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["ssh"],
    summary: "Run a command on another host",
    usage: "ssh [-46AaCfGgKkMNnqsTtVvXxYy] [-i FILE] [-l USER] [-o OPTION] [-p \
         PORT] [USER@]HOST COMMAND [ARG]...",
    misuse: 255,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.own_options("46AaCfGgKkMNnqTtVvXxYyi:l:o:p:F:J:", &[])?;
    let Some(target) = given.first().map(str::to_string) else { return call.misuse("") };
    let (user, name) = match target.split_once('@') {
        Some((user, name)) => (user.to_string(), name.to_string()),
        None => {
            let own = call.shell.session.user.clone();
            (given.value('l').map_or(own, str::to_string), target)
        }
    };
    let site = call.shell.site().await?;
    let found = dig::resolve(call, &name).await?;
    let host = found.iter().find_map(|(_, id)| site.member(*id)).filter(|m| m.kind == "host");
    let Some(host) = host.map(|h| h.id) else {
        let text = match found.is_empty() {
            true => format!("ssh: Could not resolve hostname {name}: Name or service not known"),
            false => format!("ssh: connect to host {name} port 22: Connection refused"),
        };
        call.warn(text);
        return Ok(255);
    };
    let line = given.operands[1..].join(" ");
    if line.is_empty() {
        call.warn("ssh: a login without a command is not supported by this terminal; \
             give the command too");
        return Ok(255);
    }
    let own = (
        call.shell.session.host,
        std::mem::replace(&mut call.shell.session.user, user.clone()),
        std::mem::replace(&mut call.shell.session.cwd, crate::session::home(&user)),
        call.shell.session.vars.clone(),
    );
    call.shell.go_to(host);
    call.shell.session.vars = crate::session::Session::new(host, &user).vars;
    // Its own door has to be open.
    let open = call.host().await?.sockets.iter().any(|s| s.port == 22);
    let ran = match open {
        true => {
            call.shell.fuel.enter()?;
            let output = call.shell.line(&line).await;
            call.shell.fuel.leave();
            output.map(Some)
        }
        false => Ok(None),
    };
    let (back, user, cwd, vars) = own;
    call.shell.go_to(back);
    (call.shell.session.user, call.shell.session.cwd, call.shell.session.vars) = (user, cwd, vars);
    call.shell.land();
    match ran? {
        Some(output) => Ok(call.take(output)),
        None => {
            call.warn(format!("ssh: connect to host {name} port 22: Connection refused"));
            Ok(255)
        }
    }
}
