//! `printf`: arguments in a format.

use super::Command;
use crate::call::{Call, Done};
use crate::expand::unescape;

pub(crate) const COMMAND: Command = Command {
    names: &["printf"],
    summary: "Format and print ARGUMENT(s) according to FORMAT",
    usage: "printf FORMAT [ARGUMENT]...",
    misuse: 2,
    short_hint: false,
    run: |call| Box::pin(run(call)),
};

async fn run(call: &mut Call<'_, '_>) -> Done {
    let mut args = std::mem::take(&mut call.args);
    if args.first().is_some_and(|a| a == "--") {
        args.remove(0);
    }
    if args.is_empty() {
        return call.misuse("usage: printf format [arguments]");
    }
    let format = args.remove(0);
    let mut args = args.into_iter().peekable();
    loop {
        let before = args.len();
        match write(&format, &mut args) {
            Ok(text) => call.put(&text),
            Err(c) => return call.fail(1, format!("`{c}': invalid format character")),
        }
        // The format is used again while there are arguments, if it takes any.
        if args.peek().is_none() || args.len() == before || call.is_full() {
            return Ok(0);
        }
        call.shell.fuel.step()?;
    }
}

pub(super) fn write(
    format: &str,
    args: &mut impl Iterator<Item = String>,
) -> Result<String, char> {
    let format = unescape(format);
    let mut out = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let (mut left, mut zero, mut plus) = (false, false, false);
        while let Some(flag) = chars.next_if(|c| matches!(c, '-' | '0' | '+' | ' ' | '#')) {
            left |= flag == '-';
            zero |= flag == '0';
            plus |= flag == '+';
        }
        let number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut digits = String::new();
            while let Some(d) = chars.next_if(char::is_ascii_digit) {
                digits.push(d);
            }
            digits.parse::<usize>().ok().map(|n| n.min(4096))
        };
        let width = number(&mut chars).unwrap_or(0);
        let point = chars.next_if_eq(&'.');
        let precision = point.map(|_| number(&mut chars).unwrap_or(0));
        let text = match chars.next() {
            Some('%') | None => "%".to_string(),
            Some('s') => {
                let text = args.next().unwrap_or_default();
                precision.map_or(text.clone(), |p| text.chars().take(p).collect())
            }
            Some('b') => unescape(&args.next().unwrap_or_default()),
            Some('q') => format!("'{}'", args.next().unwrap_or_default()),
            Some('c') => args.next().unwrap_or_default().chars().take(1).collect(),
            Some('d' | 'i' | 'u') => {
                let value = super::sort::number(&args.next().unwrap_or_default()) as i64;
                if plus { format!("{value:+}") } else { value.to_string() }
            }
            Some('x') => format!("{:x}", super::sort::number(&args.next().unwrap_or_default()) as i64),
            Some('X') => format!("{:X}", super::sort::number(&args.next().unwrap_or_default()) as i64),
            Some('o') => format!("{:o}", super::sort::number(&args.next().unwrap_or_default()) as i64),
            Some('f' | 'g' | 'e') => {
                let value = super::sort::number(&args.next().unwrap_or_default());
                format!("{value:.0$}", precision.unwrap_or(6).min(100))
            }
            Some(other) => return Err(other),
        };
        let missing = width.saturating_sub(text.chars().count());
        match (left, zero) {
            (true, _) => out += &(text + &" ".repeat(missing)),
            (_, true) => out += &("0".repeat(missing) + &text),
            _ => out += &(" ".repeat(missing) + &text),
        }
    }
    Ok(out)
}
