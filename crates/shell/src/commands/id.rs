//! `id`, `groups`: the numbers of a user.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["id", "groups"],
    summary: "Print user and group information for the specified USER",
    usage: "id [-Ggnu] [USER]",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("Ggnur", &[("user", 'u'), ("group", 'g'), ("groups", 'G'), ("name", 'n')])?;
    let own = call.shell.session.user.clone();
    let user = given.first().unwrap_or(&own).to_string();
    let number = number(&user);
    if call.name == "groups" || given.has('n') {
        call.say(user);
    } else if given.has('u') || given.has('g') || given.has('G') {
        call.say(number.to_string());
    } else {
        call.say(format!("uid={number}({user}) gid={number}({user}) groups={number}({user})"));
    }
    Ok(0)
}

/// The number of a user: known ones have theirs, others one that follows from the name.
pub(super) fn number(user: &str) -> u32 {
    match user {
        "root" => 0,
        "www-data" => 33,
        "postgres" => 114,
        name => name.bytes().fold(7, |a: u32, b| (a * 31 + u32::from(b)) % 8999) + 1000,
    }
}
