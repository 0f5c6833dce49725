//! `truncate`: sets the size of files.

use super::Command;
use crate::call::{Call, Done};
use crate::tree::Node;

pub(crate) const COMMAND: Command = Command {
    names: &["truncate"],
    summary: "Shrink or extend the size of each FILE to the specified size",
    usage: "truncate -s SIZE [-c] FILE...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("cs:r:", &[("size", 's'), ("no-create", 'c'), ("reference", 'r')])?;
    let Some(text) = given.value('s').map(str::to_string) else {
        return call.misuse("you must specify either '--size' or '--reference'");
    };
    if given.operands.is_empty() {
        return call.misuse("missing file operand");
    }
    let sign = text.chars().next().filter(|c| matches!(c, '+' | '-' | '<' | '>'));
    let Some(number) = size(text.trim_start_matches(['+', '-', '<', '>'])) else {
        return call.fail(1, format!("Invalid number: '{text}'"));
    };
    let mut code = 0;
    for name in given.operands.clone() {
        let path = call.path(&name);
        if let Err(reason) = call.shell.writable(&path).await? {
            call.complain(format!("cannot open '{name}' for writing: {reason}"));
            code = 1;
            continue;
        }
        let tree = call.tree().await?;
        let now = match tree.at(&path) {
            Node::File(file) => file.size,
            Node::Missing if given.has('c') => continue,
            _ => 0.0,
        };
        let wanted = match sign {
            Some('+') => now + number,
            Some('-') => (now - number).max(0.0),
            Some('<') => now.min(number),
            Some('>') => now.max(number),
            _ => number,
        };
        let args = [("path", path.into()), ("size", wanted.into())];
        if let Err(reason) = call.order("truncate", &args).await? {
            call.complain(format!("failed to truncate '{name}': {reason}"));
            code = 1;
        }
    }
    Ok(code)
}

/// `0`, `10M`, `1GB`.
pub(super) fn size(text: &str) -> Option<f64> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: f64 = text[..at].parse().ok()?;
    let factor = match &text[at..] {
        "" | "c" | "B" => 1.0,
        "k" | "K" | "KiB" => 1024.0,
        "KB" | "kB" => 1e3,
        "M" | "MiB" => 1_048_576.0,
        "MB" => 1e6,
        "G" | "GiB" => 1_073_741_824.0,
        "GB" => 1e9,
        "T" | "TiB" => 1_099_511_627_776.0,
        "b" => 512.0,
        _ => return None,
    };
    (number * factor <= 1e15).then_some(number * factor)
}
