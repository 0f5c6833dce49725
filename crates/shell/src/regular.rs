//! Regular expressions as `grep` and `sed` write them, for an engine without backtracking.

use regex::{Regex, RegexBuilder};

/// Which grammar a pattern is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavor {
    /// Basic: `+`, `?`, `|`, `(`, `{` mean something with a backslash only.
    Basic,
    /// Extended.
    Extended,
    /// A plain text.
    Fixed,
}

/// Bytes of a compiled expression at most.
const SIZE_MAX: usize = 1 << 20;

/// Compiles a pattern.
///
/// # Errors
/// What is wrong with it, in the words of the tools.
pub(crate) fn compile(pattern: &str, flavor: Flavor, ignore_case: bool) -> Result<Regex, String> {
    let source = match flavor {
        Flavor::Fixed => regex::escape(pattern),
        Flavor::Basic | Flavor::Extended => translate(pattern, flavor),
    };
    build(&source, ignore_case)
}

/// Compiles what is an expression of the engine already.
pub(crate) fn build(source: &str, ignore_case: bool) -> Result<Regex, String> {
    RegexBuilder::new(source)
        .case_insensitive(ignore_case)
        .multi_line(false)
        .size_limit(SIZE_MAX)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "Regular expression too big".to_string(),
            _ if source.matches('[').count() > source.matches(']').count() => {
                "Unmatched [, [^, [:, [., or [=".to_string()
            }
            _ if source.matches('(').count() > source.matches(')').count() => {
                "Unmatched ( or \\(".to_string()
            }
            _ => "Invalid regular expression".to_string(),
        })
}

fn translate(pattern: &str, flavor: Flavor) -> String {
    let mut out = String::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('<') => out += "\\b{start}",
                Some('>') => out += "\\b{end}",
                Some(c @ ('+' | '?' | '|' | '(' | ')' | '{' | '}')) if flavor == Flavor::Basic => {
                    out.push(c);
                }
                Some(c @ ('w' | 'W' | 's' | 'S' | 'b' | 'B' | 'd' | 'D' | 't' | 'n')) => {
                    out.push('\\');
                    out.push(c);
                }
                Some(c) => out += &regex::escape(&c.to_string()),
                None => out += "\\\\",
            },
            '[' => {
                out.push('[');
                bracket(&mut chars, &mut out);
            }
            '+' | '?' | '|' | '(' | ')' | '{' | '}' if flavor == Flavor::Basic => {
                out.push('\\');
                out.push(c);
            }
            '*' if matches!(out.as_str(), "" | "^") => out += "\\*",
            _ => out.push(c),
        }
    }
    out
}

/// A bracket expression: a first `]` stands for itself, and so does every backslash.
fn bracket(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    if chars.next_if_eq(&']').is_some() {
        out.push_str("\\]");
    }
    while let Some(c) = chars.next() {
        match c {
            '[' if chars.peek() == Some(&':') => {
                out.push('[');
                for c in chars.by_ref() {
                    out.push(c);
                    if c == ']' {
                        break;
                    }
                }
            }
            '[' => out.push_str("\\["),
            '\\' => out.push_str("\\\\"),
            '&' | '~' => {
                out.push('\\');
                out.push(c);
            }
            ']' => {
                out.push(']');
                return;
            }
            _ => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_and_extended_expressions_differ_as_they_do() {
        for (pattern, flavor, text, expected) in [
            ("a+", Flavor::Basic, "aa", false),
            ("a+", Flavor::Basic, "a+", true),
            ("a\\+", Flavor::Basic, "aa", true),
            ("a|b", Flavor::Extended, "b", true),
            ("a\\|b", Flavor::Basic, "b", true),
            ("^[0-9]*$", Flavor::Basic, "123", true),
            ("[[:space:]]x", Flavor::Basic, " x", true),
            ("[]a]", Flavor::Basic, "]", true),
            ("*", Flavor::Basic, "*", true),
            ("\\<err", Flavor::Basic, "an err", true),
            ("\\<err", Flavor::Basic, "berr", false),
            ("a.c", Flavor::Fixed, "abc", false),
        ] {
            let regex = compile(pattern, flavor, false).unwrap();
            assert_eq!(regex.is_match(text), expected, "{pattern} on {text}");
        }
        assert!(compile("[a", Flavor::Basic, false).unwrap_err().starts_with("Unmatched ["));
        assert!(compile("(a", Flavor::Extended, false).unwrap_err().starts_with("Unmatched ("));
    }
}
