//! Lines that become ready in any order and are written in theirs, so that the bytes depend on
//! what was asked for and not on what was faster.

use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes line by line, in the order of their numbers.
#[derive(Debug)]
pub struct Ledger<W> {
    to: W,
    next: u64,
    /// Ready, but others come first. `None`: nothing came of it.
    waiting: BTreeMap<u64, Option<String>>,
    /// The first error; after it nothing is written.
    failed: Option<io::Error>,
    written: u64,
}

impl<W: Write> Ledger<W> {
    /// Nothing is written yet; the first number is 0.
    pub fn new(to: W) -> Ledger<W> {
        Ledger { to, next: 0, waiting: BTreeMap::new(), failed: None, written: 0 }
    }

    /// The line of this number. Every number has to come once.
    pub fn put(&mut self, number: u64, line: Option<String>) {
        self.waiting.insert(number, line);
        while let Some(line) = self.waiting.remove(&self.next) {
            self.next += 1;
            if let Some(line) = line.filter(|_| self.failed.is_none()) {
                let kept = writeln!(self.to, "{line}").and_then(|()| self.to.flush());
                self.written += u64::from(kept.is_ok());
                self.failed = kept.err();
            }
        }
    }

    /// Whether something could not be written.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Lines that were written.
    ///
    /// # Errors
    /// The first one of writing.
    pub fn finish(self) -> io::Result<u64> {
        self.failed.map_or(Ok(self.written), Err)
    }
}
