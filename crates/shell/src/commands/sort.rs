//! `sort`: lines in order.

use super::Command;
use crate::call::{Call, Done};
use std::cmp::Ordering;

pub(crate) const COMMAND: Command = Command {
    names: &["sort"],
    summary: "Write sorted concatenation of all FILE(s) to standard output",
    usage: "sort [-bfhnruV] [-k KEY] [-t SEP] [FILE]...",
    misuse: 2,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let long = &[
        ("numeric-sort", 'n'),
        ("human-numeric-sort", 'h'),
        ("general-numeric-sort", 'g'),
        ("reverse", 'r'),
        ("unique", 'u'),
        ("ignore-case", 'f'),
        ("key", 'k'),
        ("field-separator", 't'),
        ("version-sort", 'V'),
    ];
    let given = call.options("bdfghnrsuVk:t:", long)?;
    let (inputs, complete) = call.inputs(&given.operands).await?;
    if !complete {
        return Ok(2);
    }
    let mut lines: Vec<&str> = inputs.iter().flat_map(|(_, text)| text.lines()).collect();
    // The first number of a key is where it starts, letters after it say how it compares.
    let keys: Vec<(usize, usize, String)> = given
        .values('k')
        .map(|k| {
            let flags: String = k.chars().filter(char::is_ascii_alphabetic).collect();
            let part = |text: &str| {
                let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
                digits.parse::<usize>().unwrap_or(0)
            };
            let (from, to) = k.split_once(',').map_or((k, ""), |(a, b)| (a, b));
            (part(from).max(1), part(to), flags)
        })
        .collect();
    let separator = given.value('t').map(str::to_string);
    let global: String = "nhgrfV".chars().filter(|c| given.has(*c)).collect();
    let compare = |a: &&str, b: &&str| {
        for (from, to, flags) in &keys {
            let flags = if flags.is_empty() { &global } else { flags };
            let order = by(flags, &key(a, *from, *to, &separator), &key(b, *from, *to, &separator));
            if order != Ordering::Equal {
                return if flags.contains('r') { order.reverse() } else { order };
            }
        }
        let order = if keys.is_empty() { by(&global, a, b) } else { Ordering::Equal };
        let last_resort = !given.has('s') && !given.has('u');
        let order = if last_resort { order.then_with(|| a.cmp(b)) } else { order };
        if given.has('r') { order.reverse() } else { order }
    };
    lines.sort_by(compare);
    if given.has('u') {
        lines.dedup_by(|a, b| compare(&&**a, &&**b) == Ordering::Equal);
    }
    for line in lines {
        call.say(line);
    }
    Ok(0)
}

fn key(line: &str, from: usize, to: usize, separator: &Option<String>) -> String {
    let fields: Vec<&str> = match separator {
        Some(separator) => line.split(separator.as_str()).collect(),
        None => line.split_whitespace().collect(),
    };
    let to = if to == 0 { fields.len() } else { to.min(fields.len()) };
    fields.get(from - 1..to.max(from - 1)).unwrap_or_default().join(" ")
}

fn by(flags: &str, a: &str, b: &str) -> Ordering {
    if flags.contains('h') {
        return size(a).total_cmp(&size(b));
    }
    if flags.contains(['n', 'g', 'V']) {
        return number(a).total_cmp(&number(b));
    }
    if flags.contains('f') {
        return a.to_uppercase().cmp(&b.to_uppercase());
    }
    a.cmp(b)
}

/// The number a text begins with, or 0.
pub(super) fn number(text: &str) -> f64 {
    let text = text.trim_start();
    let signs = |(at, c): (usize, char)| c.is_ascii_digit() || c == '.' || c == '-' && at == 0;
    let end = text.char_indices().find(|one| !signs(*one)).map_or(text.len(), |(at, _)| at);
    text[..end].parse().unwrap_or(0.0)
}

fn size(text: &str) -> f64 {
    let number_sign = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let digits = text.trim_start().trim_start_matches(number_sign);
    let unit = digits.chars().next().unwrap_or(' ');
    let factor = match unit.to_ascii_uppercase() {
        'K' => 1024.0,
        'M' => 1_048_576.0,
        'G' => 1_073_741_824.0,
        'T' => 1_099_511_627_776.0,
        _ => 1.0,
    };
    number(text) * factor
}
