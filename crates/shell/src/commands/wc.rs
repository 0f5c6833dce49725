//! `wc`: lines, words, bytes.

use super::Command;
use crate::call::{Call, Done};
use crate::tree::Node;

pub(crate) const COMMAND: Command = Command {
    names: &["wc"],
    summary: "Print newline, word, and byte counts for each FILE",
    usage: "wc [-clmwL] [FILE]...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let long = &[("bytes", 'c'), ("chars", 'm'), ("lines", 'l'), ("words", 'w')];
    let given = call.options("clmwL", long)?;
    let (inputs, complete) = call.inputs(&given.operands).await?;
    let wanted: Vec<char> = match "lwmcL".chars().filter(|c| given.has(*c)).collect::<Vec<_>>() {
        none if none.is_empty() => vec!['l', 'w', 'c'],
        some => some,
    };
    let tree = call.shell.places().await?;
    let mut rows: Vec<(Vec<f64>, String)> = Vec::new();
    for (name, text) in &inputs {
        // A file's size is the host's fact, whatever of it can be shown.
        let bytes = match tree.at(&call.path(name)) {
            Node::File(file) if name != "-" => file.size.floor(),
            _ => text.len() as f64,
        };
        let longest = text.lines().map(|l| l.chars().count()).max().unwrap_or(0);
        let count = |what: &char| match what {
            'l' => text.matches('\n').count() as f64,
            'w' => text.split_whitespace().count() as f64,
            'm' => text.chars().count() as f64,
            'L' => longest as f64,
            _ => bytes,
        };
        let label = if given.operands.is_empty() { String::new() } else { name.clone() };
        rows.push((wanted.iter().map(count).collect(), label));
    }
    if rows.len() > 1 {
        let sum = |c: usize| rows.iter().map(|(counts, _)| counts[c]).sum();
        rows.push(((0..wanted.len()).map(sum).collect(), "total".into()));
    }
    let single = rows.len() == 1 && wanted.len() == 1;
    let digits = rows.iter().flat_map(|(c, _)| c).map(|n| format!("{n:.0}").len()).max();
    let width = match (single, given.operands.is_empty()) {
        (true, _) => 1,
        (false, true) => 7,
        _ => digits.unwrap_or(1),
    };
    for (counts, label) in rows {
        let cells: Vec<_> = counts.iter().map(|n| format!("{n:>width$.0}")).collect();
        call.say(format!("{} {label}", cells.join(" ")).trim_end());
    }
    Ok(i32::from(!complete))
}
