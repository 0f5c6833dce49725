//! A typed line in words: split at blanks, with quotes around what has blanks in it.

/// The words of a line.
///
/// # Errors
/// Where a quote is not closed.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some(end) if end == letter => break,
                        Some(inside) => word.push(inside),
                        None => return Err(format!("a quote {letter} is not closed")),
                    }
                }
            }
            blank if blank.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

/// What is in the quotes of a text that is one quoted word, as a shell hands it on.
pub fn whole(text: &str) -> Option<String> {
    let mut letters = text.chars();
    let quote = letters.next().filter(|letter| matches!(letter, '"' | '\''))?;
    let mut inner = String::new();
    while let Some(letter) = letters.next() {
        if letter == quote {
            return letters.as_str().is_empty().then_some(inner);
        }
        let escapes = letter == '\\' && quote == '"';
        match letters.as_str().chars().next() {
            Some(escaped @ ('"' | '$' | '`' | '\\')) if escapes => {
                letters.next();
                inner.push(escaped);
            }
            _ => inner.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together() {
        for (line, words) in [
            ("", &[][..]),
            ("  logs  gateway ", &["logs", "gateway"]),
            ("logs gateway \"no such host\"", &["logs", "gateway", "no such host"]),
            ("logs gateway contains='a b'c", &["logs", "gateway", "contains=a bc"]),
            ("x ''", &["x", ""]),
        ] {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
        for (text, inner) in [
            ("'a b'", Some("a b")),
            (r#""a \"b\" \n""#, Some(r#"a "b" \n"#)),
            ("''", Some("")),
            ("'a' 'b'", None),
            ("'a", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(whole(text).as_deref(), inner, "{text}");
        }
        assert_eq!(split("logs 'gateway").unwrap_err(), "a quote ' is not closed");
    }
}
