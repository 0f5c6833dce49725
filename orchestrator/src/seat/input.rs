//! Where lines come from: a person at a terminal, with completion and history, or a pipe. Lines
//! are read by a thread of their own, so that Ctrl-C is heard while nobody types.

use crate::failure::Failure;
use scenario::Scenario;
use std::io::{BufRead, IsTerminal, stdin, stdout};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Longest line of a pipe, bytes.
const LINE_MAX: usize = 65_536;

/// What was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A line.
    Line(String),
    /// Nothing more will come.
    End,
    /// Ctrl-C.
    Stop,
    /// Lines cannot be read, and why.
    Broken(String),
}

/// What the next line is asked for with.
#[derive(Clone, Debug)]
struct Question {
    prompt: String,
    /// The host whose terminal it is typed in.
    at: Option<String>,
}

/// The other end of the thread that reads.
#[derive(Debug)]
pub struct Input {
    ask: std::sync::mpsc::Sender<Question>,
    said: mpsc::Receiver<Said>,
    /// A person types.
    pub person: bool,
}

impl Input {
    /// Reads from stdin; a person gets a prompt and completion in the system of `scenario`.
    ///
    /// # Errors
    /// Where the terminal cannot be prepared.
    pub fn open(scenario: &Arc<Scenario>) -> Result<Input, Failure> {
        let person = stdin().is_terminal() && stdout().is_terminal();
        let (ask, questions) = std::sync::mpsc::channel::<Question>();
        let (tell, said) = mpsc::channel(1);
        let scenario = scenario.clone();
        let read = move || match person {
            true => type_lines(&scenario, &questions, &tell),
            false => pipe_lines(&questions, &tell),
        };
        let thread = std::thread::Builder::new().name("input".into()).spawn(read);
        thread.map_err(|error| Failure::failed(format!("no thread to read with: {error}")))?;
        Ok(Input { ask, said, person })
    }

    /// The next line.
    pub async fn next(&mut self, prompt: String, at: Option<&str>) -> Said {
        let question = Question { prompt, at: at.map(String::from) };
        if self.ask.send(question).is_err() {
            return Said::End;
        }
        if self.person {
            // The terminal hears Ctrl-C itself while a line is typed.
            return self.said.recv().await.unwrap_or(Said::End);
        }
        tokio::select! {
            said = self.said.recv() => said.unwrap_or(Said::End),
            _ = tokio::signal::ctrl_c() => Said::Stop,
        }
    }
}

type Questions = std::sync::mpsc::Receiver<Question>;
type Tell = mpsc::Sender<Said>;

fn pipe_lines(questions: &Questions, tell: &Tell) {
    let mut lines = stdin().lock();
    while questions.recv().is_ok() {
        let mut line = Vec::new();
        let mut most = std::io::Read::take(&mut lines, LINE_MAX as u64);
        let said = match most.read_until(b'\n', &mut line) {
            Ok(0) => Said::End,
            Ok(LINE_MAX..) if !line.ends_with(b"\n") => {
                Said::Broken(format!("a line is longer than {LINE_MAX} bytes"))
            }
            // What is no UTF-8 is understood as little as any other slip; the lines after it are.
            Ok(_) => {
                let line = String::from_utf8_lossy(&line);
                Said::Line(line.trim_end_matches(['\n', '\r']).to_string())
            }
            Err(error) => Said::Broken(error.to_string()),
        };
        if tell.blocking_send(said).is_err() {
            return;
        }
    }
}

#[cfg(unix)]
fn type_lines(scenario: &Scenario, questions: &Questions, tell: &Tell) {
    let mut typing = super::typing::Typing::default();
    while let Ok(question) = questions.recv() {
        let said = typing.line(&question.prompt, question.at.as_deref(), scenario);
        if tell.blocking_send(said).is_err() {
            return;
        }
    }
}

/// Elsewhere the system's own line editing has to do.
#[cfg(not(unix))]
fn type_lines(_: &Scenario, questions: &Questions, tell: &Tell) {
    pipe_lines(questions, tell);
}
