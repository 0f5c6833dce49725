//! Records in an SQLite file. One thread writes: it takes all writes that wait, does them in one
//! transaction, and answers each after the commit. Readers have a connection of their own, which
//! in WAL mode neither waits for the writer nor holds it up.
//!
//! # Durability
//! `journal_mode = WAL`, `synchronous = NORMAL`. An answered write is in the log file as far as the
//! operating system goes, so it outlives the end of the process, `kill -9` included. It is not
//! forced to the disk at each commit: after a loss of power or a crash of the operating system the
//! file is intact, but the last commits may be missing, always the newest ones first and never
//! half of one. Such an episode resumes from an earlier step.

mod apply;
mod read;
mod schema;
mod trouble;
mod writer;

use crate::error::RecordError;
use crate::record::Record;
use crate::store::{self, Answer, Filter, Store, Summary, Write, Written};
use model::EpisodeId;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use writer::{Job, Task};

/// What a store is opened with.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    /// Writes that may wait. An episode has at most one under way, so this bounds live episodes.
    waiting_max: usize,
    /// How long to wait for another process that writes to the same file.
    busy: Duration,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning { waiting_max: 8192, busy: Duration::from_secs(5) }
    }
}

/// Keeps records in an SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    waiting_max: usize,
    /// `None` only while it is dropped.
    jobs: Option<SyncSender<Job>>,
    writer: Option<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
    reader: Mutex<Connection>,
}

impl SqliteStore {
    /// Opens the file, and makes it if it is missing; its folder must be there.
    ///
    /// # Errors
    /// One that names the path and the way out: [`RecordError::NoFolder`],
    /// [`RecordError::IsFolder`], [`RecordError::NotRecords`], [`RecordError::Denied`],
    /// [`RecordError::Newer`], [`RecordError::Full`], [`RecordError::Locked`],
    /// [`RecordError::Damaged`] or [`RecordError::Database`].
    pub fn open(path: &Path) -> Result<SqliteStore, RecordError> {
        SqliteStore::tuned(path, Tuning::default())
    }

    fn tuned(path: &Path, tuning: Tuning) -> Result<SqliteStore, RecordError> {
        let writing = schema::open(path, tuning.busy)?;
        let reading = schema::open(path, tuning.busy)?;
        let commits = Arc::new(AtomicU64::new(0));
        let (jobs, waiting) = mpsc::sync_channel(tuning.waiting_max);
        let writer = writer::Writer::new(writing, path, commits.clone());
        let writer = thread::Builder::new()
            .name("records".into())
            .spawn(move || writer.run(&waiting))
            .map_err(|error| trouble::system(path, &error))?;
        Ok(SqliteStore {
            path: path.to_path_buf(),
            waiting_max: tuning.waiting_max,
            jobs: Some(jobs),
            writer: Some(writer),
            commits,
            reader: Mutex::new(reading),
        })
    }

    /// Transactions committed since it was opened; fewer than writes where they were grouped.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Bounds the file to about `bytes`, or to its present size if that is larger. A write beyond
    /// it is refused as on a full disk. Holds until it is set again or the store is closed.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn bound(&self, bytes: u64) -> Result<(), RecordError> {
        self.wait(Task::Bound { bytes }).map(drop)
    }

    /// Sends a task, waiting for room if need be, and waits for its end.
    fn wait(&self, task: Task) -> Result<Written, RecordError> {
        let (answer, answered) = store::channel();
        let jobs = self.jobs.as_ref().ok_or(RecordError::Closed)?;
        jobs.send(Job { task, answer }).map_err(|_| RecordError::Closed)?;
        answered.recv().unwrap_or(Err(RecordError::Closed))
    }

    /// Reads in one transaction: all of it is from the same moment.
    fn read<T>(
        &self,
        how: impl FnOnce(&Connection) -> Result<T, trouble::Trouble>,
    ) -> Result<T, RecordError> {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = reader.unchecked_transaction();
        let transaction = transaction.map_err(|error| trouble::database(&self.path, &error))?;
        how(&transaction).map_err(|trouble| trouble.named(&self.path))
    }
}

impl Store for SqliteStore {
    fn submit(&self, write: Write, answer: Answer) {
        let Some(jobs) = &self.jobs else { return answer(Err(RecordError::Closed)) };
        match jobs.try_send(Job { task: Task::Write(write), answer }) {
            Ok(()) => {}
            Err(TrySendError::Full(job)) => {
                (job.answer)(Err(RecordError::Busy { waiting: self.waiting_max }));
            }
            Err(TrySendError::Disconnected(job)) => (job.answer)(Err(RecordError::Closed)),
        }
    }

    fn write(&self, write: Write) -> Result<Written, RecordError> {
        self.wait(Task::Write(write))
    }

    fn load(&self, episode: EpisodeId) -> Result<Record, RecordError> {
        self.read(|db| read::load(db, episode))
    }

    fn owner(&self, episode: EpisodeId) -> Result<u64, RecordError> {
        self.read(|db| read::owner(db, episode))
    }

    fn of_session(&self, session: &str) -> Result<Option<EpisodeId>, RecordError> {
        self.read(|db| read::of_session(db, session))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, RecordError> {
        self.read(|db| read::list(db, filter))
    }
}

impl Drop for SqliteStore {
    /// Waits until all writes that were accepted are done and answered.
    fn drop(&mut self) {
        // Without a sender the writer ends once nothing waits.
        self.jobs = None;
        if let Some(writer) = self.writer.take() {
            // The last owner may be an answer, on the very thread that is to be waited for.
            if writer.thread().id() != thread::current().id() {
                drop(writer.join());
            }
        }
    }
}

#[cfg(test)]
mod tests;
