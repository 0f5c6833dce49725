//! Records on a PostgreSQL server, for one process or for many. One thread writes: it takes all
//! writes that wait and does those of one sort in one statement. Other threads read, each over a
//! connection of its own.
//!
//! # Owners
//! Only who holds the epoch of an episode appends: the statement that adds entries finds the row
//! by episode *and* epoch. Each statement is a transaction of its own, so that no process holds a
//! lock between two of them: one that is stopped in the middle of anything is in nobody's way.
//!
//! # Broken connections
//! Each write has a number, and a row remembers the last one that changed it. A write whose answer
//! was lost is therefore sent again, over a new connection, until there is an answer or patience
//! ends, and takes effect once. A server that restarts makes steps slower and loses none.
//!
//! # Durability
//! An answered write has been committed under the server's own `synchronous_commit`, which
//! outlives a loss of power where it is on.

mod apply;
mod link;
mod read;
mod schema;
mod trouble;
mod writer;

use crate::address::Address;
use link::Link;
use model::EpisodeId;
use read::{Question, Reader};
use record::store::channel;
use record::{Answer, Filter, Record, RecordError, ServerTrouble, Store, Summary, Write, Written};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use writer::{Job, Writer};

/// Connections that read. With the one that writes, these are all that a process opens.
const READERS: usize = 4;

/// What a store is opened with.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    /// Writes that may wait. An episode has at most one under way, so this bounds live episodes.
    waiting_max: usize,
    /// How long the server may take to let us in.
    connect: Duration,
    /// How long it may take to answer.
    answer: Duration,
    /// How long a broken connection is made anew and the request repeated.
    patience: Duration,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            waiting_max: 8192,
            connect: Duration::from_secs(5),
            answer: Duration::from_secs(10),
            patience: Duration::from_secs(20),
        }
    }
}

/// Keeps records on a PostgreSQL server.
#[derive(Debug)]
pub struct PostgresStore {
    address: Address,
    waiting_max: usize,
    /// `None` only while it is dropped.
    jobs: Option<SyncSender<Job>>,
    questions: Option<SyncSender<Question>>,
    threads: Vec<JoinHandle<()>>,
    statements: Arc<AtomicU64>,
}

impl PostgresStore {
    /// Connects, and makes the tables if they are missing.
    ///
    /// # Errors
    /// [`RecordError::Server`], which names the server and the way out.
    pub fn open(address: &Address) -> Result<PostgresStore, RecordError> {
        PostgresStore::tuned(address, Tuning::default())
    }

    /// On a thread of its own: whoever opens a store may be within a runtime, where no other one
    /// can be driven.
    fn tuned(address: &Address, tuning: Tuning) -> Result<PostgresStore, RecordError> {
        thread::scope(|scope| {
            let opening = scope.spawn(|| PostgresStore::connect(address, tuning));
            opening.join().unwrap_or(Err(RecordError::Closed))
        })
    }

    fn connect(address: &Address, tuning: Tuning) -> Result<PostgresStore, RecordError> {
        let mut writing = Link::new(address, tuning)?;
        let runtime = || runtime().map_err(|problem| system(address, &problem));
        let first = runtime()?;
        first.block_on(writing.open())?;
        let (jobs, waiting) = mpsc::sync_channel(tuning.waiting_max);
        let (questions, asked) = mpsc::sync_channel(tuning.waiting_max);
        let asked = Arc::new(Mutex::new(asked));
        let statements = Arc::new(AtomicU64::new(0));
        let writer = Writer::new(writing, first, statements.clone(), tuning)
            .map_err(|problem| system(address, &problem))?;
        let mut threads = vec![spawn("records", address, move || writer.run(&waiting))?];
        for _ in 0..READERS {
            let reader = Reader::new(Link::new(address, tuning)?, runtime()?, tuning);
            let asked = asked.clone();
            threads.push(spawn("records-read", address, move || reader.run(&asked))?);
        }
        Ok(PostgresStore {
            address: address.clone(),
            waiting_max: tuning.waiting_max,
            jobs: Some(jobs),
            questions: Some(questions),
            threads,
            statements,
        })
    }

    /// Where it is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Statements that wrote, since it was opened; fewer than writes where these were grouped.
    pub fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    /// Asks a thread that reads, and waits.
    fn ask<T>(
        &self,
        question: impl FnOnce(SyncSender<Result<T, RecordError>>) -> Question,
    ) -> Result<T, RecordError> {
        let (tell, told) = mpsc::sync_channel(1);
        let questions = self.questions.as_ref().ok_or(RecordError::Closed)?;
        questions.send(question(tell)).map_err(|_| RecordError::Closed)?;
        told.recv().unwrap_or(Err(RecordError::Closed))
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| error.to_string())
}

fn spawn(
    name: &str,
    address: &Address,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, RecordError> {
    let spawned = thread::Builder::new().name(name.into()).spawn(work);
    spawned.map_err(|error| system(address, &error.to_string()))
}

/// Something that this process cannot do, which has nothing to do with the server.
fn system(address: &Address, problem: &str) -> RecordError {
    let trouble = ServerTrouble::Unreachable { problem: problem.to_string() };
    RecordError::Server { place: address.to_string(), trouble }
}

impl Store for PostgresStore {
    fn submit(&self, write: Write, answer: Answer) {
        let Some(jobs) = &self.jobs else { return answer(Err(RecordError::Closed)) };
        match jobs.try_send(Job { write, answer }) {
            Ok(()) => {}
            Err(TrySendError::Full(job)) => {
                (job.answer)(Err(RecordError::Busy { waiting: self.waiting_max }));
            }
            Err(TrySendError::Disconnected(job)) => (job.answer)(Err(RecordError::Closed)),
        }
    }

    fn write(&self, write: Write) -> Result<Written, RecordError> {
        let (answer, answered) = channel();
        let jobs = self.jobs.as_ref().ok_or(RecordError::Closed)?;
        jobs.send(Job { write, answer }).map_err(|_| RecordError::Closed)?;
        answered.recv().unwrap_or(Err(RecordError::Closed))
    }

    fn load(&self, episode: EpisodeId) -> Result<Record, RecordError> {
        self.ask(|tell| Question::Load(episode, tell))
    }

    fn owner(&self, episode: EpisodeId) -> Result<u64, RecordError> {
        self.ask(|tell| Question::Owner(episode, tell))
    }

    fn of_session(&self, session: &str) -> Result<Option<EpisodeId>, RecordError> {
        self.ask(|tell| Question::OfSession(session.to_string(), tell))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, RecordError> {
        self.ask(|tell| Question::List(filter.clone(), tell))
    }
}

impl Drop for PostgresStore {
    /// Waits until all writes that were accepted are done and answered.
    fn drop(&mut self) {
        // Without senders the threads end once nothing waits.
        self.jobs = None;
        self.questions = None;
        for thread in self.threads.drain(..) {
            // The last owner may be an answer, on the very thread that is to be waited for.
            if thread.thread().id() != thread::current().id() {
                drop(thread.join());
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
