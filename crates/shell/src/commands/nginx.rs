//! `nginx`: its configuration checked, its server started or signalled.

use super::Command;
use crate::call::{Call, Done};
use crate::units;
use model::UnitState;

pub(crate) const COMMAND: Command = Command {
    names: &["nginx"],
    summary: "Web server: test its configuration, start it or send it a signal",
    usage: "nginx [-?hvVtTq] [-s signal] [-c filename] [-g directives]",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let host = call.host().await?;
    let Some(unit) = units::unit(&host, "nginx").cloned() else {
        let name = call.name.clone();
        call.warn(format!("bash: {name}: command not found"));
        return Ok(127);
    };
    let given = call.options("?hvVtTqs:c:g:p:", &[])?;
    let path = "/etc/nginx/nginx.conf";
    if given.has('v') || given.has('V') {
        call.warn("nginx version: nginx/1.24.0 (Debian)");
        return Ok(0);
    }
    if given.has('t') || given.has('T') {
        let there = call.tree().await?.exists(path);
        if !there {
            call.warn(format!("nginx: [emerg] open() \"{path}\" failed (2: No such file or directory)"));
            call.warn(format!("nginx: configuration file {path} test failed"));
            return Ok(1);
        }
        call.warn(format!("nginx: the configuration file {path} syntax is ok"));
        call.warn(format!("nginx: configuration file {path} test is successful"));
        return Ok(0);
    }
    if let Some(signal) = given.value('s') {
        let sent = match signal {
            "stop" => "TERM",
            "quit" => "QUIT",
            "reload" => "HUP",
            "reopen" => "USR1",
            _ => return call.misuse(format!("invalid option: \"-s {signal}\"")),
        };
        if unit.pid == 0 {
            call.warn("nginx: [error] open() \"/run/nginx.pid\" failed (2: No such file \
                 or directory)");
            return Ok(1);
        }
        if matches!(sent, "TERM" | "QUIT") {
            return super::systemctl::change_all(call, &["nginx".into()], "stop", "stop").await;
        }
        return match units::signal(call, unit.pid, sent).await? {
            Ok(()) => Ok(0),
            Err(reason) => call.fail(1, format!("[alert] kill({}, 1) failed ({reason})", unit.pid)),
        };
    }
    if !call.shell.is_root() {
        call.warn("nginx: [emerg] bind() to 0.0.0.0:80 failed (13: Permission denied)");
        return Ok(1);
    }
    let taken = host.sockets.iter().any(|s| s.port == unit.port);
    if taken || unit.state == UnitState::Active {
        call.warn(format!("nginx: [emerg] bind() to 0.0.0.0:{} failed (98: Address already in \
             use)", unit.port));
        return Ok(1);
    }
    match units::change(call, "nginx", "start").await? {
        Ok(()) => Ok(0),
        Err(reason) => call.fail(1, format!("[emerg] {reason}")),
    }
}
