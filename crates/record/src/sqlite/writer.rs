//! The thread that writes. All writes that wait share a transaction; if the database cannot do
//! one of them, each is done again alone, so that none fails for the sake of another.

use crate::error::RecordError;
use crate::sqlite::apply;
use crate::sqlite::trouble::{self, Trouble};
use crate::store::{Answer, Write, Written};
use rusqlite::{Connection, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

/// Most writes of one transaction: bounds how long the first of them waits for the last.
const GROUP_MAX: usize = 1024;

/// What the thread can be asked to do.
#[derive(Debug)]
pub(super) enum Task {
    /// A write of the store.
    Write(Write),
    /// See [`super::SqliteStore::bound`].
    Bound {
        /// Most bytes of the file.
        bytes: u64,
    },
}

/// A task, and who waits for it.
pub(super) struct Job {
    pub(super) task: Task,
    pub(super) answer: Answer,
}

type Outcome = Result<Written, RecordError>;

/// The thread's state.
pub(super) struct Writer {
    db: Connection,
    path: PathBuf,
    commits: Arc<AtomicU64>,
}

/// Why a group came to nothing.
enum Setback {
    /// It could not begin: nobody else could either.
    Begin(RecordError),
    /// One of it went wrong, or all of it together.
    Group(RecordError),
}

impl Writer {
    pub(super) fn new(db: Connection, path: &Path, commits: Arc<AtomicU64>) -> Writer {
        Writer { db, path: path.to_path_buf(), commits }
    }

    /// Works until no sender is left and nothing waits.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let (mut tasks, mut answers) = (vec![first.task], vec![first.answer]);
            for job in jobs.try_iter().take(GROUP_MAX - 1) {
                tasks.push(job.task);
                answers.push(job.answer);
            }
            let outcomes = self.group(&tasks);
            for (answer, outcome) in answers.into_iter().zip(outcomes) {
                answer(outcome);
            }
        }
    }

    /// One outcome for each task, in order.
    fn group(&mut self, tasks: &[Task]) -> Vec<Outcome> {
        match self.together(tasks) {
            Ok(outcomes) => outcomes,
            Err(Setback::Group(_)) if tasks.len() > 1 => {
                tasks.iter().flat_map(|task| self.group(std::slice::from_ref(task))).collect()
            }
            Err(Setback::Begin(error) | Setback::Group(error)) => {
                tasks.iter().map(|_| Err(error.clone())).collect()
            }
        }
    }

    /// All tasks in one transaction.
    fn together(&mut self, tasks: &[Task]) -> Result<Vec<Outcome>, Setback> {
        let path = &self.path;
        let begun = self.db.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(|error| Setback::Begin(trouble::database(path, &error)))?;
        let mut outcomes = Vec::with_capacity(tasks.len());
        for task in tasks {
            match apply::apply(&transaction, task) {
                Ok(written) => outcomes.push(Ok(written)),
                // Refused before anything was changed, so the others are not touched by it.
                Err(Trouble::Refused(error)) => outcomes.push(Err(error)),
                Err(trouble) => return Err(Setback::Group(trouble.named(path))),
            }
        }
        let committed = transaction.commit();
        committed.map_err(|error| Setback::Group(trouble::database(path, &error)))?;
        self.commits.fetch_add(1, Ordering::Relaxed);
        Ok(outcomes)
    }
}
