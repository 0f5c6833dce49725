//! A line from a person at a terminal: raw mode while it is typed, drawn anew after each key.

use super::complete::complete;
use super::input::Said;
use super::keys::{Came, Editor, Key, take};
use crate::console;
use action::Site;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use scenario::Scenario;
use std::io::{self, Read, stdin};

/// Columns of a terminal that does not know.
const COLUMNS: usize = 80;

/// Keys and lines between two questions.
#[derive(Debug, Default)]
pub struct Typing {
    editor: Editor,
    /// Bytes that are no key yet, or were typed ahead.
    bytes: Vec<u8>,
}

impl Typing {
    /// Asks for a line with this prompt; `at` is the host whose terminal it is typed in.
    pub fn line(&mut self, prompt: &str, at: Option<&str>, scenario: &Scenario) -> Said {
        let said = Raw::enter().and_then(|_raw| self.read(prompt, at, scenario));
        said.unwrap_or_else(|error| Said::Broken(error.to_string()))
    }

    fn read(&mut self, prompt: &str, at: Option<&str>, scenario: &Scenario) -> io::Result<Said> {
        let kinds = fleet::kinds();
        let site = Site::new(&scenario.topology, &kinds);
        loop {
            self.draw(prompt);
            let Some(key) = self.key()? else { return Ok(Said::End) };
            let said = match self.editor.press(key, |text| complete(text, at, &site)) {
                Came::Typed => continue,
                Came::Choice(words) => {
                    console::out_raw(format_args!("\r\n{}\r\n", words.join("  ")));
                    continue;
                }
                Came::Clear => {
                    console::out_raw("\u{1b}[H\u{1b}[2J");
                    continue;
                }
                Came::Line(line) => Said::Line(line),
                Came::End => Said::End,
                Came::Stop => Said::Stop,
            };
            console::out_raw("\r\n");
            return Ok(said);
        }
    }

    /// The next key; none: the terminal is gone.
    fn key(&mut self) -> io::Result<Option<Key>> {
        loop {
            if let Some(key) = take(&mut self.bytes) {
                return Ok(Some(key));
            }
            let mut more = [0; 256];
            match stdin().lock().read(&mut more)? {
                0 => return Ok(None),
                read => self.bytes.extend_from_slice(&more[..read]),
            }
        }
    }

    /// The prompt and that part of the line which fits beside it, with the cursor in place.
    fn draw(&self, prompt: &str) {
        let columns = tcgetwinsize(stdin()).map_or(COLUMNS, |size| usize::from(size.ws_col));
        let columns = if columns == 0 { COLUMNS } else { columns };
        let (line, cursor) = self.editor.line();
        let room = columns.saturating_sub(prompt.chars().count() + 1).max(1);
        let from = (cursor + 1).saturating_sub(room);
        let shown: String = line.chars().skip(from).take(room).collect();
        let back = shown.chars().count() + from - cursor;
        let back = if back > 0 { format!("\u{1b}[{back}D") } else { String::new() };
        console::out_raw(format_args!("\r\u{1b}[K{prompt}{shown}{back}"));
    }
}

/// The terminal gives every key at once and shows none; as before when this is dropped.
struct Raw(Termios);

impl Raw {
    fn enter() -> io::Result<Raw> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        let line = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        raw.local_modes.remove(line);
        raw.input_modes.remove(InputModes::ICRNL | InputModes::IXON);
        tcsetattr(stdin(), OptionalActions::Now, &raw)?;
        Ok(Raw(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}
