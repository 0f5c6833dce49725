//! `grep`: lines that match.

use super::Command;
use crate::call::{Call, Done, Stop};
use crate::options::Given;
use crate::expand::glob;
use crate::regular::{self, Flavor};
use crate::tree::{self, Node};

pub(crate) const COMMAND: Command = Command {
    names: &["grep", "egrep", "fgrep", "zgrep"],
    summary: "Search for PATTERNS in each FILE",
    usage: "grep [-cEFhHilLnoqrsvwxP] [-A NUM] [-B NUM] [-C NUM] [-e PATTERNS] \
         [-m NUM] [--include=GLOB] PATTERNS [FILE]...",
    misuse: 2,
    short_hint: true,
    run: |call| Box::pin(run(call)),
};

/// Long options and the letters they stand for.
const LONG: &[(&str, char)] = &[
        ("extended-regexp", 'E'),
        ("fixed-strings", 'F'),
        ("perl-regexp", 'P'),
        ("ignore-case", 'i'),
        ("invert-match", 'v'),
        ("word-regexp", 'w'),
        ("line-regexp", 'x'),
        ("count", 'c'),
        ("files-with-matches", 'l'),
        ("files-without-match", 'L'),
        ("line-number", 'n'),
        ("only-matching", 'o'),
        ("quiet", 'q'),
        ("silent", 'q'),
        ("no-messages", 's'),
        ("recursive", 'r'),
        ("no-filename", 'h'),
        ("with-filename", 'H'),
        ("after-context", 'A'),
        ("before-context", 'B'),
        ("context", 'C'),
        ("max-count", 'm'),
        ("regexp", 'e'),
        ("include", 'I'),
        ("exclude", 'X'),
        ("color", 'K'),
        ("colour", 'K'),
        ("text", 'a'),
        ("line-buffered", 'u'),
    ];

async fn run(call: &mut Call<'_, '_>) -> Done {
    let given = call.options("acEe:FGhHiIlLnoPqrRsuvwxyA:B:C:m:I:X:", LONG)?;
    let mut operands = given.operands.clone();
    let mut patterns: Vec<String> = given.values('e').map(String::from).collect();
    if patterns.is_empty() {
        if operands.is_empty() {
            call.warn("Usage: grep [OPTION]... PATTERNS [FILE]...");
            return call.misuse("");
        }
        patterns.push(operands.remove(0));
    }
    let matchers = matchers(call, &given, &patterns)?;
    let number = |letter: char| given.value(letter).and_then(|v| v.parse::<usize>().ok());
    let recursive = given.has('r') || given.has('R');
    if recursive && operands.is_empty() {
        operands.push(".".into());
    }
    let (inputs, mut complete) = gather(call, &given, operands, recursive).await?;
    let named = given.has('H') || !given.has('h') && (inputs.len() > 1 || recursive);
    let context = number('C');
    let search = Search {
        matchers,
        invert: given.has('v'),
        most: number('m').unwrap_or(usize::MAX),
        before: number('B').or(context).unwrap_or(0),
        after: number('A').or(context).unwrap_or(0),
    };
    let mut any = false;
    for (name, text) in inputs {
        let shown = if name == "-" { "(standard input)" } else { &name };
        let prefix = if named { format!("{shown}:") } else { String::new() };
        let hits = search.lines(&text);
        any |= !hits.is_empty();
        if given.has('q') {
            continue;
        } else if given.has('c') {
            call.say(format!("{prefix}{}", hits.len()));
        } else if given.has('l') || given.has('L') {
            if hits.is_empty() == given.has('L') {
                call.say(shown);
            }
        } else {
            search.print(call, &text, &hits, &prefix, &given);
        }
        if call.is_full() {
            break;
        }
    }
    complete |= given.has('q') && any;
    Ok(if !complete { 2 } else { i32::from(!any) })
}

/// The patterns, compiled.
fn matchers(
    call: &mut Call<'_, '_>,
    given: &Given,
    patterns: &[String],
) -> Result<Vec<regex::Regex>, Stop> {
    let flavor = match (given.last("EFGP"), call.name.as_str()) {
        (Some('F'), _) | (None, "fgrep") => Flavor::Fixed,
        (Some('E' | 'P'), _) | (None, "egrep") => Flavor::Extended,
        _ => Flavor::Basic,
    };
    let (ignore_case, perl) = (given.has('i') || given.has('y'), given.has('P'));
    let mut matchers = Vec::new();
    for pattern in patterns.iter().flat_map(|p| p.split('\n')) {
        let compiled = match perl {
            true => regular::build(pattern, ignore_case),
            false => regular::compile(pattern, flavor, ignore_case),
        };
        let source = |regex: regex::Regex| match (given.has('w'), given.has('x')) {
            (_, true) => format!("^(?:{})$", regex.as_str()),
            (true, _) => format!("\\b(?:{})\\b", regex.as_str()),
            _ => regex.as_str().to_string(),
        };
        match compiled.and_then(|regex| regular::build(&source(regex), ignore_case)) {
            Ok(regex) => matchers.push(regex),
            Err(reason) => return call.fail(2, reason),
        }
    }
    Ok(matchers)
}

/// The texts to search: files, and with `-r` those under folders.
async fn gather(
    call: &mut Call<'_, '_>,
    given: &Given,
    operands: Vec<String>,
    recursive: bool,
) -> Result<(Vec<(String, String)>, bool), Stop> {
    let tree = call.shell.places().await?;
    let include: Vec<_> = given.values('I').map(glob).collect();
    let exclude: Vec<_> = given.values('X').map(glob).collect();
    let mut names = Vec::new();
    for operand in operands {
        let path = call.path(&operand);
        if !recursive || !tree.is_folder(&path) {
            names.push(operand);
            continue;
        }
        for one in tree.walk(&path) {
            call.shell.fuel.step()?;
            let name = tree::name(&one);
            let wanted = include.is_empty() || include.iter().any(|g| g.is_match(name));
            if wanted
                && !exclude.iter().any(|g| g.is_match(name))
                && matches!(tree.at(&one), Node::File(_))
            {
                names.push(tree::join(&operand, one[path.len()..].trim_start_matches('/')));
            }
        }
    }
    if names.is_empty() && recursive {
        return Ok((Vec::new(), true));
    }
    let before = call.err.len();
    let read = call.inputs(&names).await?;
    if given.has('s') {
        call.err.truncate(before);
    }
    Ok(read)
}

struct Search {
    matchers: Vec<regex::Regex>,
    invert: bool,
    most: usize,
    before: usize,
    after: usize,
}

impl Search {
    /// Positions of the lines that match.
    fn lines(&self, text: &str) -> Vec<usize> {
        let fits = |line: &str| self.matchers.iter().any(|m| m.is_match(line)) != self.invert;
        let hits = text.lines().enumerate().filter(|(_, line)| fits(line));
        hits.map(|(at, _)| at).take(self.most).collect()
    }

    fn print(
        &self,
        call: &mut Call<'_, '_>,
        text: &str,
        hits: &[usize],
        prefix: &str,
        given: &Given,
    ) {
        let lines: Vec<&str> = text.lines().collect();
        let mut next = 0;
        for hit in hits {
            let from = hit.saturating_sub(self.before).max(next);
            if self.before + self.after > 0 && next > 0 && from > next {
                call.say("--");
            }
            let to = (hit + self.after + 1).min(lines.len());
            for (at, line) in lines.iter().enumerate().take(to).skip(from.min(*hit)) {
                if at < next {
                    continue;
                }
                let matched = hits.binary_search(&at).is_ok();
                if at > *hit && matched {
                    break;
                }
                let sign = if matched { ':' } else { '-' };
                let prefix = if matched { prefix.to_string() } else { prefix.replace(':', "-") };
                let number = match given.has('n') {
                    true => format!("{}{sign}", at + 1),
                    false => String::new(),
                };
                if given.has('o') && !self.invert {
                    for found in self.matchers.iter().flat_map(|m| m.find_iter(line)) {
                        if !found.is_empty() {
                            call.say(format!("{prefix}{number}{}", found.as_str()));
                        }
                    }
                } else {
                    call.say(format!("{prefix}{number}{line}"));
                }
                next = at + 1;
            }
        }
    }
}
