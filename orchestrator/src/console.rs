//! The only place that prints: results go to stdout, everything about them to stderr. A reader
//! that went away (`mayday scenario list | head`) is no error.

use std::io::{self, IsTerminal, Write};

/// Prints a result and a line break.
pub fn out(text: impl std::fmt::Display) {
    write(&mut io::stdout().lock(), format_args!("{text}\n"));
}

/// Prints a result as it is.
pub fn out_raw(text: impl std::fmt::Display) {
    write(&mut io::stdout().lock(), format_args!("{text}"));
}

/// Prints a result as indented JSON.
pub fn json(value: &serde_json::Value) {
    out(format_args!("{value:#}"));
}

/// Says something about what is being done.
pub fn note(text: impl std::fmt::Display) {
    write(&mut io::stderr().lock(), format_args!("{text}\n"));
}

/// Says what went wrong.
pub fn error(text: impl std::fmt::Display) {
    note(format_args!("mayday: {text}"));
}

/// Whether a person reads stderr.
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}

fn write(to: &mut impl Write, text: std::fmt::Arguments<'_>) {
    // Nobody is left to be told where this fails.
    let _ = to.write_fmt(text).and_then(|()| to.flush());
}
