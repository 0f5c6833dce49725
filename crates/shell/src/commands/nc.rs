//! `nc`, `telnet`: whether a port is open.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["nc", "telnet", "ncat"],
    summary: "Check whether a port is open",
    usage: "nc [-vz] [-w SECONDS] HOST PORT",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("vznuw:4l", &[])?;
    if given.has('l') {
        return call.fail(1, "listening is not supported by this terminal");
    }
    let [host, port] = &given.operands[..] else { return call.misuse("missing port number") };
    let (host, text) = (host.clone(), port.clone());
    let Ok(port) = text.parse::<u16>() else {
        return call.fail(1, format!("port number invalid: {text}"));
    };
    match super::curl::listener(call, &host, port).await? {
        Ok(_) => {
            if given.has('v') || call.name == "telnet" {
                call.warn(format!("Connection to {host} {port} port [tcp/*] succeeded!"));
            }
            Ok(0)
        }
        Err((6, _)) => call.fail(1, format!("getaddrinfo for host \"{host}\" port {port}: Name or service not known")),
        Err(_) => {
            if given.has('v') || !given.has('z') {
                call.complain(format!("connect to {host} port {port} (tcp) failed: Connection refused"));
            }
            Ok(1)
        }
    }
}
