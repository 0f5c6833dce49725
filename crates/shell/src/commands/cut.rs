//! `cut`: parts of lines.

use super::Command;
use crate::call::{Call, Done};

pub(crate) const COMMAND: Command = Command {
    names: &["cut"],
    summary: "Print selected parts of lines from each FILE to standard output",
    usage: "cut -f LIST [-d DELIM] [-s] [FILE]... | cut -c LIST [FILE]...",
    misuse: 1,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let long = &[
        ("fields", 'f'),
        ("delimiter", 'd'),
        ("characters", 'c'),
        ("bytes", 'b'),
        ("only-delimited", 's'),
        ("output-delimiter", 'O'),
    ];
    let given = call.options("f:d:c:b:sO:", long)?;
    let chars = given.value('c').or(given.value('b')).map(str::to_string);
    let Some(list) = given.value('f').map(str::to_string).or(chars.clone()) else {
        return call.misuse("you must specify a list of bytes, characters, or fields");
    };
    let Some(ranges) = ranges(&list) else {
        return call.misuse(format!("invalid field value '{list}'"));
    };
    let delimiter = given.value('d').unwrap_or("\t").to_string();
    if delimiter.chars().count() != 1 {
        return call.misuse("the delimiter must be a single character");
    }
    let out = given.value('O').map_or(delimiter.clone(), str::to_string);
    let wanted = |n: usize| ranges.iter().any(|(from, to)| n >= *from && n <= *to);
    let (inputs, complete) = call.inputs(&given.operands).await?;
    for line in inputs.iter().flat_map(|(_, text)| text.lines()) {
        if chars.is_some() {
            let kept = line.chars().enumerate().filter(|(at, _)| wanted(at + 1));
            let kept: String = kept.map(|(_, c)| c).collect();
            call.say(kept);
        } else if !line.contains(&delimiter) {
            if !given.has('s') {
                call.say(line);
            }
        } else {
            let fields = line.split(delimiter.as_str()).enumerate();
            let kept: Vec<_> = fields.filter(|(at, _)| wanted(at + 1)).map(|(_, f)| f).collect();
            call.say(kept.join(&out));
        }
    }
    Ok(i32::from(!complete))
}

/// `1,3-5,7-`, counted from 1.
fn ranges(list: &str) -> Option<Vec<(usize, usize)>> {
    list.split(',')
        .map(|part| {
            let number = |text: &str, open: usize| match text {
                "" => Some(open),
                _ => text.parse::<usize>().ok().filter(|n| *n > 0),
            };
            match part.split_once('-') {
                Some(("", "")) => None,
                Some((from, to)) => Some((number(from, 1)?, number(to, usize::MAX)?)),
                None => part.parse::<usize>().ok().filter(|n| *n > 0).map(|n| (n, n)),
            }
        })
        .collect()
}
