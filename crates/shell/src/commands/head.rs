//! `head`: the beginning of files.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["head"],
    summary: "Print the first 10 lines of each FILE to standard output",
    usage: "head [-n LINES] [-c BYTES] [-qv] [FILE]...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let long = &[("lines", 'n'), ("bytes", 'c'), ("quiet", 'q'), ("verbose", 'v')];
    old_count(&mut call.args);
    let given = call.options("n:c:qv", long)?;
    let count = |text: &str| text.trim_start_matches('-').parse::<usize>().ok();
    let bytes = given.value('c').is_some();
    let text = given.value('c').or(given.value('n')).unwrap_or("10").to_string();
    let Some(wanted) = count(&text) else {
        let what = if bytes { "bytes" } else { "lines" };
        return call.fail(1, format!("invalid number of {what}: '{text}'"));
    };
    let from_end = text.starts_with('-');
    let (inputs, complete) = call.inputs(&given.operands).await?;
    let titled = given.has('v') || inputs.len() > 1 && !given.has('q');
    for (at, (name, text)) in inputs.iter().enumerate() {
        if titled {
            let gap = if at > 0 { "\n" } else { "" };
            call.put(&format!("{gap}==> {} <==\n", if name == "-" { "standard input" } else { name }));
        }
        if call.shell.is_opaque(name).await? {
            call.complain(format!("{name}: binary data, not shown"));
        }
        if bytes {
            let chars: String = text.chars().take(wanted).collect();
            call.put(&chars);
            continue;
        }
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let keep = if from_end { lines.len().saturating_sub(wanted) } else { wanted };
        call.put(&lines[..keep.min(lines.len())].concat());
    }
    Ok(i32::from(!complete))
}

/// `-5` is `-n 5`.
pub(super) fn old_count(args: &mut [String]) {
    for arg in args.iter_mut() {
        let digits = arg.strip_prefix('-').filter(|d| !d.is_empty());
        if let Some(digits) = digits.filter(|d| d.bytes().all(|b| b.is_ascii_digit())) {
            *arg = format!("-n{digits}");
        }
    }
}
