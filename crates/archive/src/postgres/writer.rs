//! The thread that writes. All writes that wait share a group in which each episode stands once;
//! if the server cannot do one of them, each is done again alone, so that none fails for the sake
//! of another.

use crate::postgres::Tuning;
use crate::postgres::apply;
use crate::postgres::link::Link;
use record::{Answer, RecordError, ServerTrouble, Write, Written};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Most writes of one group: bounds how long the first of them waits for the last.
const GROUP_MAX: usize = 1024;
/// Removing many records may take its time.
const PRUNING: Duration = Duration::from_secs(600);

/// A write, and who waits for it.
pub(super) struct Job {
    pub(super) write: Write,
    pub(super) answer: Answer,
}

pub(super) type Outcome = Result<Written, RecordError>;

/// A write with its number.
#[derive(Debug)]
pub(super) struct Numbered {
    pub(super) number: i64,
    pub(super) write: Write,
}

/// The thread's state.
#[derive(Debug)]
pub(super) struct Writer {
    link: Link,
    runtime: Runtime,
    /// Names this store among all that write to the server, ever.
    writer: i64,
    number: i64,
    statements: Arc<AtomicU64>,
    answer: Duration,
}

impl Writer {
    pub(super) fn new(
        link: Link,
        runtime: Runtime,
        statements: Arc<AtomicU64>,
        tuning: Tuning,
    ) -> Result<Writer, String> {
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(|error| error.to_string())?;
        let (writer, answer) = (i64::from_le_bytes(name), tuning.answer);
        Ok(Writer { link, runtime, writer, number: 0, statements, answer })
    }

    /// Works until no sender is left and nothing waits.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let waiting: Vec<_> =
                [first].into_iter().chain(jobs.try_iter().take(GROUP_MAX - 1)).collect();
            for (writes, answers) in groups(waiting) {
                let numbered = writes.into_iter().map(|write| self.numbered(write)).collect();
                let outcomes = self.group(numbered);
                for (answer, outcome) in answers.into_iter().zip(outcomes) {
                    answer(outcome);
                }
            }
        }
    }

    fn numbered(&mut self, write: Write) -> Numbered {
        self.number += 1;
        Numbered { number: self.number, write }
    }

    /// One outcome for each write, in order.
    fn group(&mut self, writes: Vec<Numbered>) -> Vec<Outcome> {
        match self.together(&writes) {
            Ok(outcomes) => outcomes,
            // What one of them says may be no fault of the others. A lost server is lost to all.
            Err(error) if writes.len() > 1 && !is_lost(&error) => writes
                .into_iter()
                .map(|write| self.together(std::slice::from_ref(&write)))
                .map(|outcome| outcome?.pop().unwrap_or(Err(RecordError::Closed)))
                .collect(),
            Err(error) => writes.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    fn together(&mut self, writes: &[Numbered]) -> Result<Vec<Outcome>, RecordError> {
        let pruning = writes.iter().any(|one| matches!(one.write, Write::Prune(_)));
        let answer = if pruning { PRUNING } else { self.answer };
        let (writer, statements) = (self.writer, &self.statements);
        let run = self.link.run(answer, async |db| {
            let (outcomes, count) = apply::apply(db, writer, writes).await?;
            statements.fetch_add(count, Ordering::Relaxed);
            Ok(outcomes)
        });
        self.runtime.block_on(run)
    }
}

fn is_lost(error: &RecordError) -> bool {
    let RecordError::Server { trouble, .. } = error else { return false };
    matches!(trouble, ServerTrouble::Unreachable { .. } | ServerTrouble::Unsure { .. })
}

/// Divides jobs, without changing their order, so that no episode stands twice in a group and
/// what removes records is alone in its own.
fn groups(jobs: Vec<Job>) -> Vec<(Vec<Write>, Vec<Answer>)> {
    let mut groups: Vec<(Vec<Write>, Vec<Answer>)> = Vec::new();
    let (mut seen, mut alone) = (BTreeSet::new(), true);
    for Job { write, answer } in jobs {
        let episode = apply::episode(&write);
        let fits = !alone && episode.is_some_and(|episode| !seen.contains(&episode));
        match groups.last_mut().filter(|_| fits) {
            Some((writes, answers)) => {
                writes.push(write);
                answers.push(answer);
            }
            None => {
                seen.clear();
                groups.push((vec![write], vec![answer]));
            }
        }
        alone = episode.is_none();
        seen.extend(episode);
    }
    groups
}
