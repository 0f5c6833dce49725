//! Lines in and lines out, in threads of their own: reading stdin cannot be called off, and a
//! reader that is slow holds nobody up but itself.

use crate::failure::Failure;
use std::io::{BufRead, Read, Write};
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender};
use tokio::sync::mpsc::{channel, unbounded_channel};

/// Longest line, bytes: as long as a message of the agents' port.
pub const LINE_MAX: u64 = openenv::settings::MESSAGE_MAX as u64;
/// Lines that are read before somebody takes them.
const READ_AHEAD: usize = 16;

/// One line without its break; `None`: it was too long.
pub type Line = Option<Vec<u8>>;

/// The lines of `from`, until it ends or cannot be read.
///
/// # Errors
/// Where there can be no thread.
pub fn read(from: impl BufRead + Send + 'static) -> Result<Receiver<Line>, Failure> {
    let (tell, told) = channel(READ_AHEAD);
    thread("lines-in", move || read_all(from, &tell))?;
    Ok(told)
}

fn read_all(mut from: impl BufRead, tell: &Sender<Line>) {
    loop {
        let mut line = Vec::new();
        match from.by_ref().take(LINE_MAX + 1).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => return tracing::warn!(%error, "requests cannot be read any more"),
        }
        let whole = line.last() == Some(&b'\n');
        if whole {
            line.pop();
        }
        let long = line.len() as u64 > LINE_MAX;
        if long && !whole && !skip_line(&mut from) {
            return;
        }
        let blank = line.iter().all(u8::is_ascii_whitespace);
        if !blank && tell.blocking_send((!long).then_some(line)).is_err() {
            return;
        }
    }
}

/// To the next line; whether it can be read on.
fn skip_line(from: &mut impl BufRead) -> bool {
    loop {
        let (length, ended) = match from.fill_buf() {
            Ok([]) | Err(_) => return false,
            Ok(bytes) => match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), false),
            },
        };
        from.consume(length);
        if ended {
            return true;
        }
    }
}

/// Writes lines to `to`, and says for each one that it is written. Ends where nobody reads.
///
/// # Errors
/// Where there can be no thread.
pub fn write(
    mut to: impl Write + Send + 'static,
) -> Result<(UnboundedSender<String>, UnboundedReceiver<()>), Failure> {
    let (tell, mut lines) = unbounded_channel::<String>();
    let (written, told) = unbounded_channel();
    thread("lines-out", move || {
        while let Some(line) = lines.blocking_recv() {
            if writeln!(to, "{line}").and_then(|()| to.flush()).is_err() {
                return;
            }
            if written.send(()).is_err() {
                return;
            }
        }
    })?;
    Ok((tell, told))
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let spawned = std::thread::Builder::new().name(name.into()).spawn(work);
    spawned.map(drop).map_err(|error| Failure::failed(format!("no thread can be started: {error}")))
}
