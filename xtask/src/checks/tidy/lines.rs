//! Rules about a file as text: its header, its length, its lines, its name.

use std::collections::BTreeMap;

use proc_macro2::{Literal, TokenStream, TokenTree};

use super::{FILE_LINES_MAX, LINE_CHARS_MAX, MAIN_LINES_MAX, Offence};

/// Module names that say nothing.
const EMPTY_NAMES: &[&str] = &["misc", "util", "utils"];

pub(super) fn offences(path: &str, text: &str) -> Vec<Offence> {
    let lines = text.lines().count();
    let mut found = Vec::new();
    found.extend(header(text));
    if lines > FILE_LINES_MAX {
        found.push(too_long("file-length", lines, FILE_LINES_MAX, "look for the second noun"));
    }
    if path.ends_with("src/main.rs") && lines > MAIN_LINES_MAX {
        found.push(too_long("main-length", lines, MAIN_LINES_MAX, "move logic to a module"));
    }
    found.extend(name(path));
    found.extend(wide_lines(text));
    found
}

fn header(text: &str) -> Option<Offence> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let words = first.strip_prefix("//!").map(str::trim).unwrap_or_default();
    let problem = if words.is_empty() {
        "does not open with a `//!` header"
    } else if words.starts_with("Placeholder") {
        "still has the placeholder header"
    } else {
        return None;
    };
    Some(Offence {
        rule: "header",
        line: 1,
        size: 1,
        problem: problem.to_owned(),
        way_out: "say in one to ten lines what the file is, and what it is not",
    })
}

fn too_long(rule: &'static str, lines: usize, max: usize, way_out: &'static str) -> Offence {
    let problem = format!("has {lines} lines, {max} are allowed");
    Offence { rule, line: 1, size: lines, problem, way_out }
}

fn name(path: &str) -> Option<Offence> {
    let trimmed = path.trim_end_matches("/mod.rs").trim_end_matches(".rs");
    let name = trimmed.rsplit('/').next().unwrap_or_default();
    EMPTY_NAMES.contains(&name).then(|| Offence {
        rule: "name",
        line: 1,
        size: 1,
        problem: format!("`{name}` does not say what is in it"),
        way_out: "name the module after its noun, or move each part to where it is used",
    })
}

/// Lines that are too long although no string or address makes them so.
fn wide_lines(text: &str) -> Vec<Offence> {
    let mut strings = None;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let chars = line.chars().count();
        if chars <= LINE_CHARS_MAX || is_excused_comment(line) {
            continue;
        }
        // The token tree is only needed for the rare long line.
        let strings = strings.get_or_insert_with(|| string_chars(text));
        let inside = strings.get(&(index + 1)).copied().unwrap_or_default();
        if is_comment(line) || chars - inside.min(chars) > LINE_CHARS_MAX {
            found.push(Offence {
                rule: "line-length",
                line: index + 1,
                size: chars,
                problem: format!("line has {chars} characters, {LINE_CHARS_MAX} are allowed"),
                way_out: "break the line",
            });
        }
    }
    found
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// An address or a row of a table in a comment cannot be broken.
fn is_excused_comment(line: &str) -> bool {
    let words = line.trim_start().trim_start_matches(['/', '!']).trim_start();
    is_comment(line) && (line.contains("://") || words.starts_with('|'))
}

/// How many characters of each line lie inside string literals.
fn string_chars(text: &str) -> BTreeMap<usize, usize> {
    let mut chars = BTreeMap::new();
    if let Ok(tokens) = text.parse() {
        let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        count_strings(tokens, &widths, &mut chars);
    }
    chars
}

fn count_strings(tokens: TokenStream, widths: &[usize], chars: &mut BTreeMap<usize, usize>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => count_strings(group.stream(), widths, chars),
            TokenTree::Literal(literal) if is_string(&literal) => {
                let (start, end) = (literal.span().start(), literal.span().end());
                for line in start.line..=end.line {
                    let width = widths.get(line.saturating_sub(1)).copied().unwrap_or_default();
                    let from = if line == start.line { start.column } else { 0 };
                    let to = if line == end.line { end.column } else { width };
                    *chars.entry(line).or_insert(0) += to.saturating_sub(from);
                }
            }
            TokenTree::Literal(_) | TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

fn is_string(literal: &Literal) -> bool {
    literal.to_string().contains('"')
}
