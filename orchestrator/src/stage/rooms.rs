//! Sessions of one dialect: each has a state of its own behind a lock of its own, so that two
//! clients never meet and the requests of one come one after another.

use super::{Caller, Limits, Refused, Stage, Trouble, reply};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::OwnedMutexGuard;

/// The name of the session of those who name none. No client can choose it.
const DEFAULT: &str = "";

/// A session: what it holds, behind its lock.
pub type Room<S> = Arc<tokio::sync::Mutex<S>>;

#[derive(Debug)]
struct Entry<S> {
    room: Room<S>,
    used: Instant,
}

#[derive(Debug)]
struct Table<S> {
    entries: BTreeMap<String, Entry<S>>,
    /// Sockets so far: each has a session of its own.
    sockets: u64,
}

/// All sessions of a dialect.
#[derive(Debug)]
pub struct Rooms<S> {
    stage: Arc<Stage>,
    table: Mutex<Table<S>>,
}

impl<S: Default + Send + 'static> Rooms<S> {
    /// Of a dialect that plays here.
    pub fn new(stage: Arc<Stage>) -> Arc<Rooms<S>> {
        let table = Mutex::new(Table { entries: BTreeMap::new(), sockets: 0 });
        Arc::new(Rooms { stage, table })
    }

    /// Where it plays.
    pub fn stage(&self) -> &Arc<Stage> {
        &self.stage
    }

    /// Answers a request within its session: alone there, and to the end, even where its client
    /// goes away meanwhile.
    pub async fn answer<F, Fut>(self: &Arc<Self>, caller: &Caller, work: F) -> Response
    where
        F: FnOnce(Arc<Stage>, OwnedMutexGuard<S>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<Response, Refused>> + Send + 'static,
    {
        let room = match self.room(caller.0.as_deref().unwrap_or(DEFAULT)) {
            Ok(room) => room,
            Err(trouble) => return Refused::from(trouble).into_response(),
        };
        self.within(room, work).await.unwrap_or_else(|| {
            let sentence = "a defect of the simulator ended the request";
            reply::detail(StatusCode::INTERNAL_SERVER_ERROR, sentence).into_response()
        })
    }

    /// The same for a session that the caller holds already; `None` after a defect.
    pub async fn within<F, Fut>(&self, room: Room<S>, work: F) -> Option<Response>
    where
        F: FnOnce(Arc<Stage>, OwnedMutexGuard<S>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<Response, Refused>> + Send + 'static,
    {
        let stage = self.stage.clone();
        let worked = self.stage.compute(async move {
            let guard = room.lock_owned().await;
            work(stage, guard).await.unwrap_or_else(IntoResponse::into_response)
        });
        worked.await
    }

    /// The session of this name, made where there is none.
    ///
    /// # Errors
    /// Where there are as many as there may be.
    pub fn room(&self, name: &str) -> Result<Room<S>, Trouble> {
        let mut table = self.table.lock();
        let now = Instant::now();
        if let Some(entry) = table.entries.get_mut(name) {
            entry.used = now;
            return Ok(entry.room.clone());
        }
        let Limits { rooms_max, idle } = self.stage.limits;
        table.entries.retain(|_, entry| {
            let held = Arc::strong_count(&entry.room) > 1;
            held || now.duration_since(entry.used) < idle
        });
        if table.entries.len() >= rooms_max {
            return Err(Trouble::Full(format!(
                "{rooms_max} sessions are open already: close some, or allow more with \
                 --max-sessions"
            )));
        }
        let room = Room::<S>::default();
        table.entries.insert(name.to_string(), Entry { room: room.clone(), used: now });
        Ok(room)
    }

    /// A session for one socket, and its name: that which the client chose, or one of its own that
    /// ends with [`Rooms::close`].
    ///
    /// # Errors
    /// As [`Rooms::room`].
    pub fn socket(&self, caller: &Caller) -> Result<(Room<S>, Option<String>), Trouble> {
        if let Some(name) = &caller.0 {
            return Ok((self.room(name)?, None));
        }
        let name = {
            let mut table = self.table.lock();
            table.sockets += 1;
            // No header, cookie or query parameter can carry this name.
            format!("socket {}", table.sockets)
        };
        Ok((self.room(&name)?, Some(name)))
    }

    /// Ends a session.
    pub fn close(&self, name: &str) {
        self.table.lock().entries.remove(name);
    }
}
