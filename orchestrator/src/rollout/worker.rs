//! Answers requests of a trainer, many episodes at once. Requests on different episodes run beside
//! each other and are answered as they are done; requests on one episode keep their order.

use super::ledger::Ledger;
use super::pipes::Line;
use super::player::{Book, Done, Order, Player};
use super::request::{self, Complaint, Deed};
use crate::failure::Failure;
use openenv::Environment;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

/// Requests that may run or wait; then no more are read until answers are.
const AHEAD_MAX: usize = 4096;

/// Both ends of the connection.
#[derive(Debug)]
pub struct Connection {
    /// Requests.
    pub lines: Receiver<Line>,
    /// Answers.
    pub answers: UnboundedSender<String>,
    /// One for each answer that is written.
    pub written: UnboundedReceiver<()>,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Episodes that were asked for.
    pub episodes: u64,
    /// Steps that were taken.
    pub steps: u64,
    /// The user stopped it.
    pub stopped: bool,
}

/// A name in use.
#[derive(Debug)]
struct Seat {
    orders: UnboundedSender<Order>,
    pending: usize,
}

/// The table of names. Only one task touches it.
struct Worker {
    environment: Arc<dyn Environment>,
    episodes_max: usize,
    book: Option<Book>,
    answers: UnboundedSender<String>,
    done: UnboundedSender<Done>,
    seats: BTreeMap<String, Seat>,
    players: JoinSet<()>,
    tally: Tally,
}

/// Answers until there are no more requests, nobody reads the answers, or `stop` asks to; then
/// running requests are finished. A second `stop` leaves them. Trajectories go to `book`.
///
/// # Errors
/// [`Failure::Interrupted`] at the second stop; else where trajectories cannot be written.
pub async fn serve(
    environment: Arc<dyn Environment>,
    connection: Connection,
    episodes_max: usize,
    book: Option<File>,
    mut stop: UnboundedReceiver<()>,
) -> Result<Tally, Failure> {
    let Connection { mut lines, answers, mut written } = connection;
    let (done, mut told) = unbounded_channel();
    let _ = answers.send(request::hello(environment.catalogue(), episodes_max));
    let mut worker = Worker {
        environment,
        episodes_max,
        book: book.map(|file| Arc::new(Mutex::new(Ledger::new(file)))),
        answers,
        done,
        seats: BTreeMap::new(),
        players: JoinSet::new(),
        tally: Tally::default(),
    };
    // Answers that are owed or not yet written; the greeting is one.
    let (mut owed, mut reading, mut heard) = (1, true, true);
    while reading || worker.is_busy() || (owed > 0 && heard) {
        tokio::select! {
            line = lines.recv(), if reading && owed < AHEAD_MAX => match line {
                Some(line) => {
                    owed += 1;
                    worker.take(line);
                }
                None => reading = false,
            },
            Some(done) = told.recv() => worker.finished(&done),
            said = written.recv(), if heard => match said {
                Some(()) => owed -= 1,
                None => (heard, reading) = (false, false),
            },
            Some(()) = stop.recv() => {
                if worker.tally.stopped {
                    return Err(Failure::Interrupted);
                }
                (worker.tally.stopped, reading) = (true, false);
                crate::console::note("stopping: running steps are brought to an end");
            }
        }
        reading &= !worker.book.as_ref().is_some_and(|book| book.lock().has_failed());
    }
    worker.end().await
}

impl Worker {
    fn is_busy(&self) -> bool {
        self.seats.values().any(|seat| seat.pending > 0)
    }

    fn take(&mut self, line: Line) {
        let read = match line {
            Some(line) => request::read(&line),
            None => {
                let why = format!("a line may have {} bytes at most", super::pipes::LINE_MAX);
                Err((Value::Null, Complaint::new("TOO_LONG", why)))
            }
        };
        let request = match read {
            Ok(request) => request,
            Err((id, wrong)) => return self.say(request::complaint(&id, None, &wrong)),
        };
        let name = request.episode.clone();
        let resets = matches!(request.deed, Deed::Reset(_));
        if !self.seats.contains_key(&name) {
            let wrong = match request.deed {
                Deed::Reset(_) if self.seats.len() < self.episodes_max => None,
                Deed::Reset(_) => Some(Complaint::new("CAPACITY_REACHED", self.full())),
                Deed::Step(_) => {
                    let why = "no episode of this name goes on: begin one with a reset";
                    Some(Complaint::new("NO_EPISODE", why))
                }
                Deed::Close => return self.say(request::closed(&request.id, &name, false)),
            };
            if let Some(wrong) = wrong {
                return self.say(request::complaint(&request.id, Some(&name), &wrong));
            }
            let seat = self.seat(&name);
            self.seats.insert(name.clone(), seat);
        }
        let number = (resets && self.book.is_some()).then_some(self.tally.episodes);
        self.tally.episodes += u64::from(resets);
        if let Some(seat) = self.seats.get_mut(&name) {
            seat.pending += 1;
            // Its player listens as long as it has a seat.
            let _ = seat.orders.send(Order { request, number });
        }
    }

    fn full(&self) -> String {
        let max = self.episodes_max;
        format!("{max} episodes go on already: close some, or allow more with --max-episodes")
    }

    fn seat(&mut self, name: &str) -> Seat {
        let (orders, received) = unbounded_channel();
        let player = Player {
            name: name.to_string(),
            environment: self.environment.clone(),
            book: self.book.clone(),
            answers: self.answers.clone(),
            done: self.done.clone(),
        };
        self.players.spawn(player.play(received));
        Seat { orders, pending: 0 }
    }

    fn say(&self, text: String) {
        // Where nobody reads, the worker ends soon.
        let _ = self.answers.send(text);
    }

    fn finished(&mut self, done: &Done) {
        self.tally.steps += u64::from(done.stepped);
        if let Some(seat) = self.seats.get_mut(&done.name) {
            seat.pending -= 1;
            if seat.pending == 0 && !done.goes_on {
                self.seats.remove(&done.name);
            }
        }
        // Players whose seat is gone.
        while self.players.try_join_next().is_some() {}
    }

    /// Episodes that go on are left.
    async fn end(mut self) -> Result<Tally, Failure> {
        self.seats.clear();
        while self.players.join_next().await.is_some() {}
        if let Some(book) = self.book.take() {
            let ledger = Arc::into_inner(book).map(Mutex::into_inner);
            let ended = ledger.map_or(Ok(0), Ledger::finish);
            ended.map_err(|error| Failure::failed(format!("--out cannot be written: {error}")))?;
        }
        Ok(self.tally)
    }
}
