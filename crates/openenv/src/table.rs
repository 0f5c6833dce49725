//! All sessions, for all transports. Who holds a session changes in one step under one lock; a
//! step of an episode never takes it.
//!
//! A session is *held* (it has a place among the most there may be) or *left*: its socket broke,
//! or its HTTP client has not come back yet. A session that was left has no place, can be taken up
//! again for some time, and goes first when memory is needed.

use crate::environment::{Environment, Refusal};
use crate::play::Session;
use crate::settings::Settings;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Sessions of HTTP clients that have not come back are kept up to this many.
const WAITING_MAX: usize = 256;

/// Whose a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Of one socket.
    Socket,
    /// Of whoever knows its id, until it is closed.
    Client,
    /// Of an HTTP client that sends its id back.
    Http,
    /// Of a connection of the Model Context Protocol.
    Tools,
}

/// Why a session cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    /// There are as many as there may be.
    Full { active: usize, max: usize, option: &'static str },
    /// There is none of this id.
    Unknown(String),
    /// Another socket has it.
    Taken(String),
    /// It cannot be found out now whether there is one.
    Failed(String),
}

impl Denied {
    /// One sentence.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Denied::Full { active, max, option } => format!(
                "Server at capacity: {active}/{max} sessions active. Cannot accept new \
                 connections. Close some, or raise the limit with {option}."
            ),
            Denied::Unknown(id) => format!("Unknown session_id: {id}"),
            Denied::Taken(id) => format!("Session {id} already has an attached WebSocket"),
            Denied::Failed(why) => why.clone(),
        }
    }
}

/// How closing went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    Now,
    /// When its socket leaves.
    Later,
}

/// A socket's hold on a session. One that is dropped broke.
#[derive(Debug)]
pub(crate) struct Line {
    table: Arc<Table>,
    pub(crate) session: Arc<Session>,
    /// The socket has to leave: another one took its place, or the session was idle.
    pub(crate) leave: CancellationToken,
    /// The session was there before.
    pub(crate) resumed: bool,
    number: u64,
}

impl Line {
    /// The socket leaves. `closed`: it said so.
    pub(crate) fn hang_up(&self, closed: bool) {
        self.table.disconnect(self, closed);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.hang_up(false);
    }
}

#[derive(Debug)]
struct Entry {
    session: Arc<Session>,
    owner: Owner,
    /// Its place among those that were left, in the order in which they were.
    left: Option<u64>,
    line: Option<(u64, CancellationToken)>,
    closing: bool,
}

#[derive(Debug, Default)]
struct Inner {
    sessions: BTreeMap<String, Entry>,
    left: BTreeMap<u64, String>,
    /// HTTP sessions among them.
    waiting: usize,
    drawn: u64,
}

impl Inner {
    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn
    }

    fn active(&self) -> usize {
        self.sessions.len() - self.left.len()
    }

    fn remove(&mut self, id: &str) -> Option<Arc<Session>> {
        let entry = self.sessions.remove(id)?;
        if let Some(number) = entry.left {
            self.left.remove(&number);
            self.waiting -= usize::from(entry.owner == Owner::Http);
        }
        if let Some((_, leave)) = entry.line {
            leave.cancel();
        }
        Some(entry.session)
    }

    fn leave(&mut self, id: &str) {
        let number = self.draw();
        let Some(entry) = self.sessions.get_mut(id).filter(|entry| entry.left.is_none()) else {
            return;
        };
        entry.left = Some(number);
        self.waiting += usize::from(entry.owner == Owner::Http);
        self.left.insert(number, id.to_string());
    }

    fn hold(&mut self, id: &str) {
        let Some(entry) = self.sessions.get_mut(id) else { return };
        if let Some(number) = entry.left.take() {
            self.waiting -= usize::from(entry.owner == Owner::Http);
            self.left.remove(&number);
        }
    }

    /// Takes out those that were left first, until no more are left than may be.
    fn surplus(&mut self, max: usize) -> Vec<Arc<Session>> {
        let mut gone = Vec::new();
        while self.waiting > WAITING_MAX.min(max) {
            let is_http = |id: &&String| {
                self.sessions.get(*id).is_some_and(|entry| entry.owner == Owner::Http)
            };
            let Some(id) = self.left.values().find(is_http).cloned() else { break };
            gone.extend(self.remove(&id));
        }
        while self.left.len() > max {
            let Some(id) = self.left.values().next().cloned() else { break };
            gone.extend(self.remove(&id));
        }
        gone
    }
}

/// All sessions.
#[derive(Debug)]
pub(crate) struct Table {
    environment: Arc<dyn Environment>,
    max: usize,
    option: &'static str,
    idle: Duration,
    grace: Duration,
    /// A socket that was not heard for this long gives way to another one.
    silence: Duration,
    began: Instant,
    inner: Mutex<Inner>,
}

impl Table {
    pub(crate) fn new(environment: Arc<dyn Environment>, settings: &Settings) -> Table {
        Table {
            environment,
            max: settings.sessions_max,
            option: settings.sessions_option,
            idle: settings.idle,
            grace: settings.grace,
            silence: settings.ping * 2,
            began: Instant::now(),
            inner: Mutex::default(),
        }
    }

    /// Milliseconds since the server began.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Sessions that are held and the most there may be.
    pub(crate) fn load(&self) -> (usize, usize) {
        (self.inner.lock().active(), self.max)
    }

    fn full(&self, active: usize) -> Denied {
        Denied::Full { active, max: self.max, option: self.option }
    }

    /// A new session with a place.
    pub(crate) fn open(&self, owner: Owner) -> Result<Arc<Session>, Denied> {
        let mut inner = self.inner.lock();
        let active = inner.active();
        if active >= self.max {
            return Err(self.full(active));
        }
        Ok(self.insert(&mut inner, owner))
    }

    /// A new session of an HTTP client, which may never come back.
    pub(crate) fn offer(&self) -> Arc<Session> {
        let mut inner = self.inner.lock();
        let session = self.insert(&mut inner, Owner::Http);
        inner.leave(session.id.as_deref().unwrap_or_default());
        self.bury(inner.surplus(self.max));
        session
    }

    fn insert(&self, inner: &mut Inner, owner: Owner) -> Arc<Session> {
        let id = uuid::Uuid::new_v4().to_string();
        let session = Arc::new(Session::new(Some(id.clone()), self.environment.clone()));
        session.touch(self.now());
        let entry =
            Entry { session: session.clone(), owner, left: None, line: None, closing: false };
        inner.sessions.insert(id, entry);
        session
    }

    /// Sees to it that the session of this id is here, if another process has served it: its
    /// episode is gone on with. It is then one that was left.
    pub(crate) async fn recall(&self, id: &str, owner: Owner) -> Result<(), Denied> {
        // Ids are drawn by `insert`; of any other form there is none anywhere.
        if self.inner.lock().sessions.contains_key(id) || uuid::Uuid::parse_str(id).is_err() {
            return Ok(());
        }
        let recalled = match self.environment.recall(id).await {
            Ok(Some(recalled)) => recalled,
            Ok(None) | Err(Refusal::Invalid(_) | Refusal::NotNow(_)) => return Ok(()),
            Err(Refusal::Failed(why)) => return Err(Denied::Failed(why)),
        };
        let mut inner = self.inner.lock();
        // Another request was faster.
        if inner.sessions.contains_key(id) {
            return Ok(());
        }
        let session = Session::recalled(id.to_string(), self.environment.clone(), recalled);
        session.touch(self.now());
        let session = Arc::new(session);
        let entry = Entry { session, owner, left: None, line: None, closing: false };
        inner.sessions.insert(id.to_string(), entry);
        inner.leave(id);
        self.bury(inner.surplus(self.max));
        Ok(())
    }

    /// The session of this id for one request of a client that is no socket.
    pub(crate) fn take_up(&self, id: &str) -> Result<Arc<Session>, Denied> {
        self.take_up_in(&mut self.inner.lock(), id)
    }

    fn take_up_in(&self, inner: &mut Inner, id: &str) -> Result<Arc<Session>, Denied> {
        let active = inner.active();
        let entry = inner.sessions.get(id).ok_or_else(|| Denied::Unknown(id.to_string()))?;
        if entry.left.is_some() && active >= self.max {
            return Err(self.full(active));
        }
        let session = entry.session.clone();
        inner.hold(id);
        session.touch(self.now());
        Ok(session)
    }

    /// An HTTP client that sent its id back is done for now.
    pub(crate) fn put_down(&self, session: &Session) {
        let Some(id) = session.id.as_deref() else { return };
        let mut inner = self.inner.lock();
        if inner.sessions.get(id).is_some_and(|entry| entry.owner == Owner::Http) {
            inner.leave(id);
        }
        self.bury(inner.surplus(self.max));
    }

    /// A line for a socket: to a new session, or to the one of this id where no living socket has
    /// it.
    pub(crate) fn connect(self: &Arc<Self>, wanted: Option<&str>) -> Result<Line, Denied> {
        let mut inner = self.inner.lock();
        let session = match wanted {
            None => {
                let active = inner.active();
                if active >= self.max {
                    return Err(self.full(active));
                }
                self.insert(&mut inner, Owner::Socket)
            }
            Some(id) => {
                let entry = inner.sessions.get(id);
                let entry = entry.ok_or_else(|| Denied::Unknown(id.to_string()))?;
                let heard = entry.session.heard.load(Ordering::Relaxed);
                let silent = Duration::from_millis(self.now().saturating_sub(heard));
                if entry.line.is_some() && silent <= self.silence {
                    return Err(Denied::Taken(id.to_string()));
                }
                self.take_up_in(&mut inner, id)?
            }
        };
        let (number, leave) = (inner.draw(), CancellationToken::new());
        let id = session.id.as_deref().unwrap_or_default();
        if let Some(entry) = inner.sessions.get_mut(id) {
            let before = entry.line.replace((number, leave.clone()));
            before.inspect(|(_, leave)| leave.cancel());
        }
        let (table, resumed) = (self.clone(), wanted.is_some());
        Ok(Line { table, session, leave, resumed, number })
    }

    fn disconnect(&self, line: &Line, closed: bool) {
        let Some(id) = line.session.id.as_deref() else { return };
        let mut inner = self.inner.lock();
        let Some(entry) = inner.sessions.get_mut(id) else { return };
        // Another socket has taken its place.
        if entry.line.as_ref().is_none_or(|(number, _)| *number != line.number) {
            return;
        }
        entry.line = None;
        line.session.touch(self.now());
        let mine = entry.owner == Owner::Socket;
        if entry.closing || (mine && closed) {
            self.end(inner.remove(id).into_iter().collect(), true);
        } else if mine && self.grace.is_zero() {
            self.bury(inner.remove(id).into_iter().collect());
        } else if mine {
            inner.leave(id);
            self.bury(inner.surplus(self.max));
        }
    }

    /// A connection of another kind leaves its session, which can be taken up again.
    pub(crate) fn leave(&self, session: &Session) {
        let Some(id) = session.id.as_deref() else { return };
        session.touch(self.now());
        let mut inner = self.inner.lock();
        if let Some(entry) = inner.sessions.get_mut(id) {
            // As after a socket that broke: it is kept for the grace and no longer.
            entry.owner = Owner::Socket;
        }
        inner.leave(id);
        self.bury(inner.surplus(self.max));
    }

    /// Closes a session, at once or when its socket leaves.
    pub(crate) fn close(&self, id: &str) -> Result<Closed, Denied> {
        let mut inner = self.inner.lock();
        let entry = inner.sessions.get_mut(id).ok_or_else(|| Denied::Unknown(id.to_string()))?;
        if entry.line.is_some() {
            entry.closing = true;
            return Ok(Closed::Later);
        }
        self.end(inner.remove(id).into_iter().collect(), true);
        Ok(Closed::Now)
    }

    /// Ends what was left too long ago, and what nobody has used for too long.
    pub(crate) fn sweep(&self) {
        let now = self.now();
        let mut inner = self.inner.lock();
        let unused = |entry: &Entry| {
            let used = entry.session.used.load(Ordering::Relaxed);
            Duration::from_millis(now.saturating_sub(used))
        };
        let (mut old, mut quiet) = (Vec::new(), Vec::new());
        for (id, entry) in &inner.sessions {
            let limit = match (entry.left, entry.owner) {
                (Some(_), Owner::Socket) => self.grace,
                _ => self.idle,
            };
            // A step that takes long is no silence of its client.
            if entry.session.is_busy() {
                entry.session.used.store(now, Ordering::Relaxed);
            }
            let alone = entry.left.is_none() && entry.line.is_none();
            if unused(entry) > limit {
                old.push(id.clone());
            } else if alone && entry.owner == Owner::Tools && unused(entry) > self.grace {
                quiet.push(id.clone());
            }
        }
        // Clients of the Model Context Protocol say nothing when they vanish. One that is quiet
        // gives its place to others, and finds its session when it comes back.
        quiet.iter().for_each(|id| inner.leave(id));
        let mut gone: Vec<_> = old.iter().filter_map(|id| inner.remove(id)).collect();
        gone.extend(inner.surplus(self.max));
        self.bury(gone);
    }

    /// Ends all of them.
    pub(crate) fn clear(&self) {
        let mut inner = self.inner.lock();
        let ids: Vec<_> = inner.sessions.keys().cloned().collect();
        self.bury(ids.iter().filter_map(|id| inner.remove(id)).collect());
    }

    /// Sessions whose clients are gone, or at least not here.
    fn bury(&self, gone: Vec<Arc<Session>>) {
        self.end(gone, false);
    }

    /// A running step goes to its end first, so this is nobody's to wait for. `closed`: by their
    /// clients.
    fn end(&self, gone: Vec<Arc<Session>>, closed: bool) {
        for session in gone {
            // Outside of a runtime the process is ending, and nobody is left to forget anything.
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(async move { session.end(closed).await });
            }
        }
    }
}
