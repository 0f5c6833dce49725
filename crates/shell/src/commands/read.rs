//! `read`: a line of standard input into variables.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["read"],
    summary: "Read a line from the standard input and split it into fields",
    usage: "read [-r] [-p PROMPT] [NAME]...",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("rsp:t:d:n:", &[])?;
    let input = call.shell.stdin.take().unwrap_or_default();
    let (line, rest) = match input.split_once('\n') {
        Some((line, rest)) => (line.to_string(), rest.to_string()),
        None => (input.clone(), String::new()),
    };
    call.shell.stdin = Some(rest);
    let mut names = given.operands.clone();
    if names.is_empty() {
        names.push("REPLY".into());
    }
    let mut left = line.trim();
    for (at, name) in names.iter().enumerate() {
        let last = at + 1 == names.len();
        let (word, after) = match left.split_once(char::is_whitespace) {
            Some((word, after)) if !last => (word, after.trim_start()),
            _ => (left, ""),
        };
        call.shell.session.vars.insert(name.clone(), word.to_string());
        left = after;
    }
    Ok(i32::from(input.is_empty()))
}
