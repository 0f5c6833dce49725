//! Words of an awk program.

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Text(String),
    /// A regular expression between slashes.
    Regex(String),
    Name(String),
    /// A name directly before a parenthesis.
    Function(String),
    /// An operator or sign.
    Sign(&'static str),
    Newline,
}

/// Signs, longer ones first.
const SIGNS: &[&str] = &[
    "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "++", "--", "!~", ">>", "{",
    "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", "<", ">", "|", "?", ":",
    "~", "$", "=",
];

/// Splits a program into words.
pub(super) fn tokens(source: &str) -> Result<Vec<Token>, String> {
    let mut all: Vec<Token> = Vec::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        if c == '\n' {
            all.push(Token::Newline);
            rest = &rest[1..];
        } else if c.is_whitespace() {
            rest = &rest[c.len_utf8()..];
        } else if c == '#' {
            rest = rest.find('\n').map_or("", |at| &rest[at..]);
        } else if rest.starts_with("\\\n") {
            rest = &rest[2..];
        } else if c == '"' {
            let (text, after) = quoted(&rest[1..], '"').ok_or("unterminated string")?;
            all.push(Token::Text(crate::expand::unescape(&text)));
            rest = after;
        } else if c == '/' && starts_regex(all.last()) {
            let (text, after) = quoted(&rest[1..], '/').ok_or("unterminated regexp")?;
            all.push(Token::Regex(text));
            rest = after;
        } else if c.is_ascii_digit()
            || c == '.' && rest[1..].starts_with(|d: char| d.is_ascii_digit())
        {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            all.push(Token::Number(rest[..end].parse().map_err(|_| "syntax error".to_string())?));
            rest = &rest[end..];
        } else if c.is_ascii_alphabetic() || c == '_' {
            let end =
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let name = rest[..end].to_string();
            rest = &rest[end..];
            let called = rest.starts_with('(');
            all.push(if called { Token::Function(name) } else { Token::Name(name) });
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            all.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        } else {
            return Err(format!("syntax error near {c}"));
        }
    }
    Ok(all)
}

/// A slash starts an expression where no value stands before it.
fn starts_regex(last: Option<&Token>) -> bool {
    match last {
        None | Some(Token::Newline) => true,
        Some(Token::Sign(sign)) => !matches!(*sign, ")" | "]" | "$" | "++" | "--"),
        Some(_) => false,
    }
}

/// Text up to an unescaped mark, and what follows it.
fn quoted(text: &str, mark: char) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == mark {
            return Some((out, &text[at + 1..]));
        }
        if c == '\\' {
            let (_, next) = chars.next()?;
            if next != mark || mark == '"' {
                out.push('\\');
            }
            out.push(next);
            continue;
        }
        out.push(c);
    }
    None
}
