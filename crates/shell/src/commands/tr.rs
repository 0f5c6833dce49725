//! `tr`: other characters for characters.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["tr"],
    summary: "Translate, squeeze, and/or delete characters from standard input",
    usage: "tr [-cds] SET1 [SET2]",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("cCds", &[("delete", 'd'), ("squeeze-repeats", 's'), ("complement", 'c')])?;
    let Some(first) = given.first().map(set) else { return call.misuse("missing operand") };
    let second = given.operands.get(1).map(|s| set(s));
    if second.is_none() && !given.has('d') && !given.has('s') {
        return call.misuse(format!("missing operand after '{}'", given.operands[0]));
    }
    let inverted = given.has('c') || given.has('C');
    let input = call.stdin();
    let mut out = String::new();
    let mut last = None;
    for c in input.chars() {
        let at = first.iter().position(|f| *f == c);
        let hit = at.is_some() != inverted;
        let mut written = c;
        if hit {
            if given.has('d') {
                continue;
            }
            if let Some(second) = second.as_ref().filter(|s| !s.is_empty()) {
                let at = at.unwrap_or(second.len()).min(second.len() - 1);
                written = second[at];
            }
            if given.has('s') && last == Some(written) {
                continue;
            }
        }
        out.push(written);
        last = Some(written);
    }
    call.put(&out);
    Ok(0)
}

/// Characters of a set: ranges, classes, escapes.
fn set(text: &str) -> Vec<char> {
    let text = text
        .replace("[:upper:]", "A-Z")
        .replace("[:lower:]", "a-z")
        .replace("[:digit:]", "0-9")
        .replace("[:alnum:]", "a-zA-Z0-9")
        .replace("[:alpha:]", "a-zA-Z")
        .replace("[:space:]", " \t\n\r")
        .replace("[:blank:]", " \t")
        .replace("[:punct:]", "!-/:-@");
    let chars: Vec<char> = crate::expand::unescape(&text).chars().collect();
    let (mut all, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        if at + 2 < chars.len() && chars[at + 1] == '-' && chars[at] <= chars[at + 2] {
            all.extend((chars[at]..=chars[at + 2]).take(1024));
            at += 3;
        } else {
            all.push(chars[at]);
            at += 1;
        }
    }
    all
}
