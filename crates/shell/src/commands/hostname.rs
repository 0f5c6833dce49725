//! `hostname`: the name of the host.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["hostname"],
    summary: "Show the system's host name",
    usage: "hostname [-fIis]",
    misuse: 255,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("fsiIad", &[("fqdn", 'f'), ("long", 'f'), ("short", 's'), ("ip-address", 'i'), ("all-ip-addresses", 'I')])?;
    if !given.operands.is_empty() {
        return call.fail(1, "you must be root to change the host name, and this terminal does \
             not change it");
    }
    let host = call.shell.prompt().await?;
    if given.has('i') || given.has('I') {
        let address = super::dig::address(call.shell.session.host);
        call.say(address);
    } else {
        call.say(host.name.clone());
    }
    Ok(0)
}
