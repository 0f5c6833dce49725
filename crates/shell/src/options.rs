//! Options as `getopt_long` reads them: clusters, attached and separate values, long names and
//! their unambiguous beginnings, operands anywhere, `--`.

use std::fmt;

/// What a program accepts. A letter followed by `:` takes a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepts {
    pub(crate) short: &'static str,
    /// Long name and the letter it stands for.
    pub(crate) long: &'static [(&'static str, char)],
    /// Operands end the options, as for programs that run others.
    pub(crate) first_operand_ends: bool,
}

/// Options and operands of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    options: Vec<(char, String)>,
    pub(crate) operands: Vec<String>,
}

/// What is wrong with the options, in the words of `getopt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    Short(char),
    Long(String),
    Missing(char),
    MissingLong(String),
    Ambiguous(String),
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misuse::Short(c) => write!(f, "invalid option -- '{c}'"),
            Misuse::Long(name) => write!(f, "unrecognized option '--{name}'"),
            Misuse::Missing(c) => write!(f, "option requires an argument -- '{c}'"),
            Misuse::MissingLong(name) => write!(f, "option '--{name}' requires an argument"),
            Misuse::Ambiguous(name) => write!(f, "option '--{name}' is ambiguous"),
        }
    }
}

impl Given {
    pub(crate) fn has(&self, letter: char) -> bool {
        self.options.iter().any(|(c, _)| *c == letter)
    }

    /// The last value of an option.
    pub(crate) fn value(&self, letter: char) -> Option<&str> {
        self.options.iter().rev().find(|(c, _)| *c == letter).map(|(_, v)| v.as_str())
    }

    pub(crate) fn values(&self, letter: char) -> impl Iterator<Item = &str> {
        self.options.iter().filter(move |(c, _)| *c == letter).map(|(_, v)| v.as_str())
    }

    /// The last given of these letters.
    pub(crate) fn last(&self, letters: &str) -> Option<char> {
        self.options.iter().rev().map(|(c, _)| *c).find(|c| letters.contains(*c))
    }

    pub(crate) fn first(&self) -> Option<&str> {
        self.operands.first().map(String::as_str)
    }
}

fn takes_value(accepts: &Accepts, letter: char) -> Option<bool> {
    let at = accepts.short.find(letter)?;
    let known = letter != ':';
    known
        .then(|| accepts.short[at + letter.len_utf8()..].starts_with(':'))
        .or_else(|| accepts.long.iter().any(|(_, c)| *c == letter).then_some(false))
}

fn long_name<'a>(accepts: &'a Accepts, name: &str) -> Result<(&'a str, char), Misuse> {
    let exact = accepts.long.iter().find(|(long, _)| *long == name);
    if let Some((long, letter)) = exact {
        return Ok((long, *letter));
    }
    let mut near = accepts.long.iter().filter(|(long, _)| long.starts_with(name));
    match (near.next(), near.next()) {
        (Some((long, letter)), None) if !name.is_empty() => Ok((long, *letter)),
        (Some(_), Some(_)) => Err(Misuse::Ambiguous(name.into())),
        _ => Err(Misuse::Long(name.into())),
    }
}

/// Splits arguments into options and operands.
pub(crate) fn parse(args: &[String], accepts: &Accepts) -> Result<Given, Misuse> {
    let mut given = Given::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            given.operands.extend(args.cloned());
            break;
        } else if let Some(long) = arg.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (long, None),
            };
            let (name, letter) = long_name(accepts, name)?;
            let value = match (value, takes_value(accepts, letter)) {
                (Some(value), _) => value,
                (None, Some(true)) => {
                    args.next().cloned().ok_or_else(|| Misuse::MissingLong(name.into()))?
                }
                (None, _) => String::new(),
            };
            given.options.push((letter, value));
        } else if arg.len() > 1 && arg.starts_with('-') {
            let mut letters = arg[1..].chars();
            while let Some(letter) = letters.next() {
                if !takes_value(accepts, letter).ok_or(Misuse::Short(letter))? {
                    given.options.push((letter, String::new()));
                    continue;
                }
                let rest = letters.as_str();
                let value = match rest.is_empty() {
                    true => args.next().cloned().ok_or(Misuse::Missing(letter))?,
                    false => rest.into(),
                };
                given.options.push((letter, value));
                break;
            }
        } else {
            given.operands.push(arg.clone());
            if accepts.first_operand_ends {
                given.operands.extend(args.cloned());
                break;
            }
        }
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCEPTS: Accepts = Accepts {
        short: "an:s:9",
        long: &[("all", 'a'), ("lines", 'n'), ("length", 'l')],
        first_operand_ends: false,
    };

    fn check(args: &[&str]) -> Result<Given, String> {
        let args: Vec<_> = args.iter().map(ToString::to_string).collect();
        parse(&args, &ACCEPTS).map_err(|e| e.to_string())
    }

    #[test]
    fn options_are_read_as_getopt_reads_them() {
        for args in [
            &["-a", "-n", "5", "x", "y"] as &[&str],
            &["-an5", "x", "y"],
            &["x", "--all", "y", "--lines=5"],
            &["--al", "--lines", "5", "--", "x", "y"],
        ] {
            let given = check(args).unwrap();
            assert!(given.has('a') && given.value('n') == Some("5"), "{args:?}");
            assert_eq!(given.operands, ["x", "y"], "{args:?}");
        }
        assert_eq!(check(&["-"]).unwrap().operands, ["-"]);
        assert!(check(&["-9"]).unwrap().has('9'));
    }

    #[test]
    fn misuse_is_named_as_getopt_names_it() {
        for (args, message) in [
            (&["-x"] as &[&str], "invalid option -- 'x'"),
            (&["--nope"], "unrecognized option '--nope'"),
            (&["-n"], "option requires an argument -- 'n'"),
            (&["--lines"], "option '--lines' requires an argument"),
            (&["--l"], "option '--l' is ambiguous"),
        ] {
            assert_eq!(check(args).unwrap_err(), message);
        }
    }
}
