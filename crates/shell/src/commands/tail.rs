//! `tail`: the end of files; with `-f`, what is there now.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["tail"],
    summary: "Print the last 10 lines of each FILE to standard output",
    usage: "tail [-n LINES] [-c BYTES] [-fFqv] [FILE]...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let long =
        &[("lines", 'n'), ("bytes", 'c'), ("follow", 'f'), ("quiet", 'q'), ("verbose", 'v'), ("retry", 'F')];
    super::head::old_count(&mut call.args);
    let given = call.options("n:c:fFqvs:", long)?;
    let bytes = given.value('c').is_some();
    let text = given.value('c').or(given.value('n')).unwrap_or("10").to_string();
    let Ok(wanted) = text.trim_start_matches(['-', '+']).parse::<usize>() else {
        let what = if bytes { "bytes" } else { "lines" };
        return call.fail(1, format!("invalid number of {what}: '{text}'"));
    };
    let (inputs, complete) = call.inputs(&given.operands).await?;
    let titled = given.has('v') || inputs.len() > 1 && !given.has('q');
    for (at, (name, body)) in inputs.iter().enumerate() {
        if titled {
            let gap = if at > 0 { "\n" } else { "" };
            call.put(&format!("{gap}==> {} <==\n", if name == "-" { "standard input" } else { name }));
        }
        if call.shell.is_opaque(name).await? {
            call.complain(format!("{name}: binary data, not shown"));
        }
        if bytes {
            let skip = body.chars().count().saturating_sub(wanted);
            let chars: String = body.chars().skip(skip).collect();
            call.put(&chars);
            continue;
        }
        let lines: Vec<&str> = body.split_inclusive('\n').collect();
        let from = match text.starts_with('+') {
            true => wanted.saturating_sub(1).min(lines.len()),
            false => lines.len().saturating_sub(wanted),
        };
        call.put(&lines[from..].concat());
    }
    if given.has('f') || given.has('F') {
        call.complain("this terminal shows what is there and does not follow; run it \
             again for more");
    }
    Ok(i32::from(!complete))
}
