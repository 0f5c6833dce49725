//! `sed`: lines printed, deleted and rewritten; with `-i` in the file.

use super::Command;
use crate::call::{Call, Done, Stop};
use crate::regular::{self, Flavor};
use regex::Regex;

pub(crate) const COMMAND: Command = Command {
    names: &["sed"],
    summary: "Stream editor for filtering and transforming text",
    usage: "sed [-nEri] [-e SCRIPT] SCRIPT [FILE]...",
    misuse: 1,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

#[derive(Debug)]
enum Address {
    Line(usize),
    Last,
    Match(Regex),
}

#[derive(Debug)]
enum Verb {
    Print,
    Delete,
    Quit,
    Number,
    Replace { find: Regex, with: String, all: bool, print: bool },
}

#[derive(Debug)]
struct Step {
    from: Option<Address>,
    to: Option<Address>,
    negate: bool,
    verb: Verb,
    inside: bool,
}

async fn run(call: &mut Call<'_, '_>) -> Done {
    // `-i.bak` is an option with an ending; only the plain one is kept.
    let long =
        &[("quiet", 'n'), ("silent", 'n'), ("regexp-extended", 'E'), ("in-place", 'i'), ("expression", 'e')];
    let given = call.options("nErie:s", long)?;
    let mut operands = given.operands.clone();
    let mut scripts: Vec<String> = given.values('e').map(String::from).collect();
    if scripts.is_empty() {
        if operands.is_empty() {
            return call.misuse("");
        }
        scripts.push(operands.remove(0));
    }
    let extended = given.has('E') || given.has('r');
    let mut steps = parse(call, &scripts.join("\n"), extended)?;
    let quiet = given.has('n');
    if given.has('i') {
        if operands.is_empty() {
            return call.fail(4, "no input files");
        }
        let mut code = 0;
        for name in operands {
            let Ok(text) = call.shell.content(&name).await? else {
                call.complain(format!("can't read {name}: No such file or directory"));
                code = 2;
                continue;
            };
            let edited = edit(call, &mut steps, &text, quiet)?;
            if let Err(reason) = call.shell.save(&name, &edited, false).await? {
                call.complain(format!("couldn't open file {name}: {reason}"));
                code = 4;
            }
        }
        return Ok(code);
    }
    let (inputs, complete) = call.inputs(&operands).await?;
    let text: String = inputs.into_iter().map(|(_, text)| text).collect();
    let edited = edit(call, &mut steps, &text, quiet)?;
    call.put(&edited);
    Ok(if complete { 0 } else { 2 })
}

fn edit(
    call: &mut Call<'_, '_>,
    steps: &mut [Step],
    text: &str,
    quiet: bool,
) -> Result<String, Stop> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    'lines: for (at, line) in lines.iter().enumerate() {
        if out.len() > call.shell.fuel.room() {
            call.shell.fuel.write(out.len())?;
        }
        let (mut line, last) = (line.to_string(), at + 1 == lines.len());
        for step in steps.iter_mut() {
            if step.covers(&line, at + 1, last) == step.negate {
                continue;
            }
            match &step.verb {
                Verb::Print => out += &format!("{line}\n"),
                Verb::Number => out += &format!("{}\n", at + 1),
                Verb::Delete => continue 'lines,
                Verb::Quit => {
                    if !quiet {
                        out += &format!("{line}\n");
                    }
                    break 'lines;
                }
                Verb::Replace { find, with, all, print } => {
                    let hit = find.is_match(&line);
                    let times = if *all { 0 } else { 1 };
                    let hits = if *all { find.find_iter(&line).count() } else { 1 };
                    let grown = hits * with.len() + with.matches("${").count() * line.len();
                    if grown > call.shell.fuel.room() {
                        call.shell.fuel.write(grown)?;
                    }
                    line = find.replacen(&line, times, with.as_str()).into_owned();
                    if hit && *print {
                        out += &format!("{line}\n");
                    }
                    if line.len() > call.shell.fuel.room() {
                        call.shell.fuel.write(line.len())?;
                    }
                }
            }
        }
        if !quiet {
            out += &format!("{line}\n");
        }
    }
    Ok(out)
}

impl Step {
    fn covers(&mut self, line: &str, number: usize, last: bool) -> bool {
        let hit = |address: &Address| match address {
            Address::Line(n) => *n == number,
            Address::Last => last,
            Address::Match(regex) => regex.is_match(line),
        };
        match (&self.from, &self.to) {
            (None, _) => true,
            (Some(from), None) => hit(from),
            (Some(_), Some(to)) if self.inside => {
                let past = matches!(to, Address::Line(n) if *n < number);
                self.inside = !hit(to) && !past;
                !past
            }
            (Some(from), Some(to)) => {
                let starts = hit(from);
                let ends_here = matches!(to, Address::Line(n) if *n <= number);
                self.inside = starts && !ends_here && !last;
                starts
            }
        }
    }
}

fn parse(call: &mut Call<'_, '_>, script: &str, extended: bool) -> Result<Vec<Step>, Stop> {
    let mut steps = Vec::new();
    let mut rest = script.trim_start_matches([' ', ';', '\n', '\t']);
    while !rest.is_empty() {
        let shown = script.len() - rest.len() + 1;
        match step(rest, extended) {
            Ok((step, after)) => {
                steps.push(step);
                rest = after.trim_start_matches([' ', ';', '\n', '\t']);
            }
            Err(reason) => {
                let message = format!("-e expression #1, char {shown}: {reason}");
                return call.fail(1, message);
            }
        }
    }
    Ok(steps)
}

fn step(text: &str, extended: bool) -> Result<(Step, &str), String> {
    let (from, rest) = address(text, extended)?;
    let (to, rest) = match rest.strip_prefix(',') {
        Some(rest) => {
            let (to, rest) = address(rest, extended)?;
            (Some(to.ok_or("unexpected `,'")?), rest)
        }
        None => (None, rest),
    };
    let rest = rest.trim_start();
    let (negate, rest) = match rest.strip_prefix('!') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, rest),
    };
    let mut chars = rest.chars();
    let (verb, rest) = match chars.next() {
        Some('p') => (Verb::Print, chars.as_str()),
        Some('d') => (Verb::Delete, chars.as_str()),
        Some('q') => (Verb::Quit, chars.as_str()),
        Some('=') => (Verb::Number, chars.as_str()),
        Some('s') => replace(chars.as_str(), extended)?,
        Some(c) if "aicywrnNhHgGxbt{".contains(c) => {
            return Err(format!("command `{c}' is not supported by this terminal"));
        }
        Some(c) => return Err(format!("unknown command: `{c}'")),
        None => return Err("missing command".into()),
    };
    let after = rest.trim_start_matches([' ', '\t']);
    if !after.is_empty() && !after.starts_with([';', '\n', '}']) {
        return Err("extra characters after command".into());
    }
    Ok((Step { from, to, negate, verb, inside: false }, rest))
}

fn address(text: &str, extended: bool) -> Result<(Option<Address>, &str), String> {
    if let Some(rest) = text.strip_prefix('$') {
        return Ok((Some(Address::Last), rest));
    }
    if let Some(rest) = text.strip_prefix('/') {
        let (pattern, rest) = until(rest, '/').ok_or("unterminated address regex")?;
        return Ok((Some(Address::Match(compile(&pattern, extended, false)?)), rest));
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if end == 0 {
        return Ok((None, text));
    }
    let number = text[..end].parse().map_err(|_| "invalid line number".to_string())?;
    Ok((Some(Address::Line(number)), &text[end..]))
}

fn replace(text: &str, extended: bool) -> Result<(Verb, &str), String> {
    let mark = text.chars().next().ok_or("unterminated `s' command")?;
    let (pattern, rest) = until(&text[mark.len_utf8()..], mark).ok_or("unterminated `s' command")?;
    let (with, rest) = until(rest, mark).ok_or("unterminated `s' command")?;
    let end = rest.find(|c: char| !matches!(c, 'g' | 'i' | 'I' | 'p')).unwrap_or(rest.len());
    let flags = &rest[..end];
    let find = compile(&pattern, extended, flags.contains(['i', 'I']))?;
    let verb = Verb::Replace {
        find,
        with: replacement(&with),
        all: flags.contains('g'),
        print: flags.contains('p'),
    };
    Ok((verb, &rest[end..]))
}

/// `&` and `\1` in the words of the engine.
fn replacement(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '$' => out += "$$",
            '&' => out += "${0}",
            '\\' => match chars.next() {
                Some(d) if d.is_ascii_digit() => out += &format!("${{{d}}}"),
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('$') => out += "$$",
                Some(c) => out.push(c),
                None => out.push('\\'),
            },
            _ => out.push(c),
        }
    }
    out
}

/// Text up to an unescaped mark, and what follows.
fn until(text: &str, mark: char) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == mark {
            return Some((out, &text[at + c.len_utf8()..]));
        }
        if c == '\\' {
            let (_, next) = chars.next()?;
            if next != mark {
                out.push('\\');
            }
            out.push(next);
            continue;
        }
        out.push(c);
    }
    None
}

fn compile(pattern: &str, extended: bool, ignore_case: bool) -> Result<Regex, String> {
    let flavor = if extended { Flavor::Extended } else { Flavor::Basic };
    regular::compile(pattern, flavor, ignore_case)
}
