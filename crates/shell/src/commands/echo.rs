//! `echo`: its arguments. It does nothing else, whatever they say.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["echo"],
    summary: "Write arguments to the standard output",
    usage: "echo [-neE] [ARG]...",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let (mut newline, mut escapes) = (true, false);
    let mut args = std::mem::take(&mut call.args);
    // Anything that is not wholly an option is text.
    while args.first().is_some_and(|a| {
        a.len() > 1 && a.starts_with('-') && a[1..].chars().all(|c| "neE".contains(c))
    }) {
        for c in args.remove(0).chars().skip(1) {
            match c {
                'n' => newline = false,
                'e' => escapes = true,
                _ => escapes = false,
            }
        }
    }
    let text = args.join(" ");
    let text = if escapes { crate::expand::unescape(&text) } else { text };
    call.put(&text);
    if newline {
        call.put("\n");
    }
    Ok(0)
}
