//! The only place that prints: results go to stdout, everything about them to stderr. A reader
//! that went away (`mayday scenario list | head`) is no error; results that cannot be written for
//! another reason, such as a full disk, make the command fail at its end.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

/// The first error of stdout.
static LOST: OnceLock<String> = OnceLock::new();

/// Prints a result and a line break.
pub fn out(text: impl std::fmt::Display) {
    result(format_args!("{text}\n"));
}

/// Prints a result as it is.
pub fn out_raw(text: impl std::fmt::Display) {
    result(format_args!("{text}"));
}

/// Prints a result as indented JSON.
pub fn json(value: &serde_json::Value) {
    out(format_args!("{value:#}"));
}

/// Says something about what is being done.
pub fn note(text: impl std::fmt::Display) {
    // Nobody is left to be told where this fails.
    let _ = write(&mut io::stderr().lock(), format_args!("{text}\n"));
}

/// Says what went wrong.
pub fn error(text: impl std::fmt::Display) {
    note(format_args!("mayday: {text}"));
}

/// Whether a person reads stderr.
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Why results could not be written, if so.
pub fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

fn result(text: std::fmt::Arguments<'_>) {
    if let Err(error) = write(&mut io::stdout().lock(), text) {
        note_lost(&error);
    }
}

/// Notes an error of stdout.
pub fn note_lost(error: &io::Error) {
    if error.kind() != ErrorKind::BrokenPipe {
        // The first one is told.
        let _ = LOST.set(error.to_string());
    }
}

fn write(to: &mut impl Write, text: std::fmt::Arguments<'_>) -> io::Result<()> {
    to.write_fmt(text)?;
    to.flush()
}
