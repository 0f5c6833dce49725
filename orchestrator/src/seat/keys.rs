//! Keys: what the bytes of a terminal mean, and what they make of the line that is typed. No input
//! and no output; the thread that has both asks this.

/// One key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A letter.
    Letter(char),
    /// Ctrl and a letter, in lower case.
    Ctrl(char),
    /// Enter.
    Enter,
    /// The tabulator.
    Tab,
    /// Deletes the letter before the cursor.
    Backspace,
    /// Deletes the letter at the cursor.
    Delete,
    /// The arrow to the left.
    Left,
    /// The arrow to the right.
    Right,
    /// The arrow up.
    Up,
    /// The arrow down.
    Down,
    /// To the start of the line.
    Home,
    /// To the end of the line.
    End,
}

/// Takes the first key of `bytes` and removes it: `None` where more bytes are needed. What means
/// nothing is left out.
pub fn take(bytes: &mut Vec<u8>) -> Option<Key> {
    loop {
        let (key, used) = first(bytes)?;
        bytes.drain(..used);
        if key.is_some() {
            return key;
        }
    }
}

/// The first key, if it is one, and its length; `None` where it is not complete.
fn first(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let byte = *bytes.first()?;
    let key = match byte {
        b'\r' | b'\n' => Key::Enter,
        b'\t' => Key::Tab,
        8 | 127 => Key::Backspace,
        27 => return escape(bytes),
        1..=26 => Key::Ctrl(char::from(byte - 1 + b'a')),
        32..=126 => Key::Letter(char::from(byte)),
        _ => return letter(bytes),
    };
    Some((Some(key), 1))
}

/// A letter of several bytes.
fn letter(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let length = match bytes[0] {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return Some((None, 1)),
    };
    let whole = bytes.get(..length)?;
    let letter = std::str::from_utf8(whole).ok().and_then(|text| text.chars().next());
    Some(letter.map_or((None, 1), |letter| (Some(Key::Letter(letter)), length)))
}

/// A key that a terminal sends as a sequence.
fn escape(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    match bytes.get(1)? {
        b'[' | b'O' => {}
        _ => return Some((None, 1)),
    }
    let end = bytes[2..].iter().position(|byte| (0x40..=0x7E).contains(byte))? + 2;
    let key = match (&bytes[2..end], bytes[end]) {
        (_, b'A') => Some(Key::Up),
        (_, b'B') => Some(Key::Down),
        (_, b'C') => Some(Key::Right),
        (_, b'D') => Some(Key::Left),
        (_, b'H') | (b"1" | b"7", b'~') => Some(Key::Home),
        (_, b'F') | (b"4" | b"8", b'~') => Some(Key::End),
        (b"3", b'~') => Some(Key::Delete),
        _ => None,
    };
    Some((key, end + 1))
}

/// What a key came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// The line may have changed.
    Typed,
    /// These words would fit at the cursor.
    Choice(Vec<String>),
    /// A clean screen is wanted.
    Clear,
    /// The line is complete.
    Line(String),
    /// Ctrl-D on an empty line.
    End,
    /// Ctrl-C.
    Stop,
}

/// The line that is typed, and those before it.
#[derive(Clone, Debug, Default)]
pub struct Editor {
    line: Vec<char>,
    cursor: usize,
    history: Vec<String>,
    /// Position in the history while one looks back; its length: the new line.
    at: usize,
    /// The new line while one looks back.
    draft: String,
}

impl Editor {
    /// What is typed so far, and the cursor's position in letters.
    pub fn line(&self) -> (String, usize) {
        (self.line.iter().collect(), self.cursor)
    }

    /// A key was pressed; `complete` says where the word at the end of a text begins, in bytes, and
    /// what it can become.
    pub fn press(&mut self, key: Key, complete: impl Fn(&str) -> (usize, Vec<String>)) -> Came {
        match key {
            Key::Letter(letter) => {
                self.line.insert(self.cursor, letter);
                self.cursor += 1;
            }
            Key::Enter => return Came::Line(self.enter()),
            Key::Tab => return self.complete(complete),
            Key::Ctrl('c') => {
                self.set("");
                return Came::Stop;
            }
            Key::Ctrl('d') if self.line.is_empty() => return Came::End,
            Key::Ctrl('l') => return Came::Clear,
            other => self.edit(other),
        }
        Came::Typed
    }

    fn edit(&mut self, key: Key) {
        match key {
            Key::Backspace | Key::Ctrl('h') if self.cursor > 0 => {
                self.cursor -= 1;
                self.line.remove(self.cursor);
            }
            Key::Delete | Key::Ctrl('d') if self.cursor < self.line.len() => {
                self.line.remove(self.cursor);
            }
            Key::Left | Key::Ctrl('b') => self.cursor = self.cursor.saturating_sub(1),
            Key::Right | Key::Ctrl('f') => self.cursor = (self.cursor + 1).min(self.line.len()),
            Key::Home | Key::Ctrl('a') => self.cursor = 0,
            Key::End | Key::Ctrl('e') => self.cursor = self.line.len(),
            Key::Up | Key::Ctrl('p') => self.look(self.at.checked_sub(1)),
            Key::Down | Key::Ctrl('n') => self.look(Some(self.at + 1)),
            Key::Ctrl('u') => drop(self.line.drain(..std::mem::take(&mut self.cursor))),
            Key::Ctrl('k') => self.line.truncate(self.cursor),
            Key::Ctrl('w') => {
                let before = &self.line[..self.cursor];
                let word = before.iter().rposition(|c| !c.is_whitespace()).map_or(0, |end| {
                    before[..end].iter().rposition(|c| c.is_whitespace()).map_or(0, |at| at + 1)
                });
                self.line.drain(word..self.cursor);
                self.cursor = word;
            }
            _ => {}
        }
    }

    fn enter(&mut self) -> String {
        let line: String = self.line.iter().collect();
        if !line.trim().is_empty() && self.history.last() != Some(&line) {
            self.history.push(line.clone());
        }
        self.set("");
        self.at = self.history.len();
        self.draft.clear();
        line
    }

    fn set(&mut self, line: &str) {
        self.line = line.chars().collect();
        self.cursor = self.line.len();
    }

    /// Shows the line at this position of the history.
    fn look(&mut self, at: Option<usize>) {
        let Some(at) = at.filter(|at| *at <= self.history.len()) else { return };
        if self.at == self.history.len() {
            self.draft = self.line.iter().collect();
        }
        self.at = at;
        let line = self.history.get(at).unwrap_or(&self.draft).clone();
        self.set(&line);
    }

    /// Puts in what all candidates have in common; nothing more in common: they are a choice.
    fn complete(&mut self, complete: impl Fn(&str) -> (usize, Vec<String>)) -> Came {
        let before: String = self.line[..self.cursor].iter().collect();
        let (start, known) = complete(&before);
        let word = before.get(start..).unwrap_or_default();
        let Some(first) = known.first() else { return Came::Typed };
        let mut common = first.clone();
        for other in &known[1..] {
            let same = common.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
            common = common.chars().take(same).collect();
        }
        if known.len() == 1 && !common.ends_with('=') {
            common.push(' ');
        }
        let more: Vec<char> = common.chars().skip(word.chars().count()).collect();
        if more.is_empty() {
            return Came::Choice(known);
        }
        let at = self.cursor;
        self.cursor += more.len();
        self.line.splice(at..at, more);
        Came::Typed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(line: &str) -> (usize, Vec<String>) {
        let start = line.rfind(' ').map_or(0, |at| at + 1);
        let words = ["restart", "resolve", "payment", "größe"];
        let fits = words.iter().filter(|word| word.starts_with(&line[start..]));
        (start, fits.map(ToString::to_string).collect())
    }

    /// Types bytes; what came of the last key, and the line with `|` at the cursor.
    fn typed(editor: &mut Editor, bytes: &[u8]) -> (Came, String) {
        let (mut bytes, mut came) = (bytes.to_vec(), Came::Typed);
        while let Some(key) = take(&mut bytes) {
            came = editor.press(key, known);
        }
        assert!(bytes.is_empty(), "{bytes:?}");
        let (line, cursor) = editor.line();
        let mut letters: Vec<char> = line.chars().collect();
        letters.insert(cursor, '|');
        (came, letters.into_iter().collect())
    }

    #[test]
    fn keys_edit_the_line() {
        for (bytes, line) in [
            (&b"logs gateway"[..], "logs gateway|"),
            ("größe\u{7f}".as_bytes(), "größ|"),
            (b"abc\x1b[D\x1b[D-", "a-|bc"),
            (b"abc\x1b[H\x1b[3~", "|bc"),
            (b"abc\x01x\x05y", "xabcy|"),
            (b"one two three\x17", "one two |"),
            (b"one two\x1b[D\x15", "|o"),
            (b"one\x1b[D\x1b[D\x0b", "o|"),
            (b"a\x1b[5~b\x1bOCc", "abc|"),
            (b"\x7f\x1b[D\x1b[C\x04", "|"),
        ] {
            assert_eq!(typed(&mut Editor::default(), bytes).1, line, "{bytes:?}");
        }
    }

    #[test]
    fn lines_come_back_by_the_arrows() {
        let mut editor = Editor::default();
        assert_eq!(typed(&mut editor, b"first\r").0, Came::Line("first".into()));
        typed(&mut editor, b"second\r");
        typed(&mut editor, b"second\r");
        assert_eq!(typed(&mut editor, b"new\x1b[A").1, "second|");
        assert_eq!(typed(&mut editor, b"\x1b[A").1, "first|");
        assert_eq!(typed(&mut editor, b"\x1b[A").1, "first|");
        assert_eq!(typed(&mut editor, b"\x1b[B\x1b[B").1, "new|");
        assert_eq!(typed(&mut editor, b"\x1b[B").1, "new|");
    }

    #[test]
    fn the_tabulator_puts_in_what_is_certain_and_shows_what_is_not() {
        let mut editor = Editor::default();
        assert_eq!(typed(&mut editor, b"r\t").1, "res|");
        let (came, line) = typed(&mut editor, b"\t");
        assert_eq!((came, line.as_str()), (Came::Choice(known("res").1), "res|"));
        assert_eq!(typed(&mut editor, b"t\t").1, "restart |");
        assert_eq!(typed(&mut editor, b"x\t").1, "restart x|");
        assert_eq!(typed(&mut Editor::default(), "grö\t".as_bytes()).1, "größe |");
    }

    #[test]
    fn ctrl_c_clears_and_ctrl_d_ends_an_empty_line_only() {
        let mut editor = Editor::default();
        assert_eq!(typed(&mut editor, b"logs\x03"), (Came::Stop, "|".into()));
        assert_eq!(typed(&mut editor, b"ab\x1b[D\x04"), (Came::Typed, "a|".into()));
        assert_eq!(typed(&mut editor, b"\x03\x04").0, Came::End);
    }

    #[test]
    fn half_a_key_waits_for_the_rest_and_noise_is_left_out() {
        let mut bytes = b"\x1b[".to_vec();
        assert_eq!(take(&mut bytes), None);
        bytes.extend(b"A");
        assert_eq!(take(&mut bytes), Some(Key::Up));
        let mut bytes = vec![0xC3];
        assert_eq!(take(&mut bytes), None);
        bytes.push(0xB6);
        assert_eq!(take(&mut bytes), Some(Key::Letter('ö')));
        let mut bytes = vec![0xFF, 0xC3, b'x', 0, b'y'];
        let keys: Vec<_> = std::iter::from_fn(|| take(&mut bytes)).collect();
        assert_eq!(keys, [Key::Letter('x'), Key::Letter('y')]);
    }
}
