//! `uniq`: repeated lines once.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["uniq"],
    summary: "Filter adjacent matching lines",
    usage: "uniq [-cdiu] [INPUT]",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("cdiu", &[("count", 'c'), ("repeated", 'd'), ("unique", 'u')])?;
    let (inputs, complete) = call.inputs(&given.operands).await?;
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for line in inputs.iter().flat_map(|(_, text)| text.lines()) {
        match groups.last_mut() {
            Some((last, count))
                if *last == line || given.has('i') && last.eq_ignore_ascii_case(line) =>
            {
                *count += 1;
            }
            _ => groups.push((line, 1)),
        }
    }
    for (line, count) in groups {
        if given.has('d') && count < 2 || given.has('u') && count > 1 {
            continue;
        }
        let line = if given.has('c') { format!("{count:7} {line}") } else { line.to_string() };
        call.say(line);
    }
    Ok(i32::from(!complete))
}
