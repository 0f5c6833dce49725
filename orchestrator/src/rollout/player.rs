//! One name that a trainer uses for its episodes: requests on it are done one after another, in
//! the order in which they came.

use super::ledger::Ledger;
use super::request::{self, Complaint, Deed, Request};
use super::trajectory::Trajectory;
use openenv::{Environment, Fields, Refusal, Turn, Wish};
use parking_lot::Mutex;
use serde_json::Value;
use std::fs::File;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

/// Where trajectories go.
pub(super) type Book = Arc<Mutex<Ledger<File>>>;

/// A request, and the number of its trajectory if it begins one.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) request: Request,
    pub(super) number: Option<u64>,
}

/// What became of a request.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) name: String,
    /// There is an episode that goes on.
    pub(super) goes_on: bool,
    /// A step was taken.
    pub(super) stepped: bool,
}

/// An episode that goes on.
#[derive(Debug)]
struct Playing {
    episode: String,
    kept: Option<(u64, Trajectory)>,
}

/// Plays under one name.
#[derive(Debug)]
pub(super) struct Player {
    pub(super) name: String,
    pub(super) environment: Arc<dyn Environment>,
    pub(super) book: Option<Book>,
    pub(super) answers: UnboundedSender<String>,
    pub(super) done: UnboundedSender<Done>,
}

impl Player {
    /// Until nobody can ask any more; then its episode is left.
    pub(super) async fn play(self, mut orders: UnboundedReceiver<Order>) {
        let mut playing = None;
        while let Some(Order { request: Request { id, deed, .. }, number }) = orders.recv().await {
            let mut stepped = false;
            let answer = match deed {
                Deed::Reset(options) => {
                    self.leave(playing.take()).await;
                    let begun = self.begin(options.task, options.seed, number).await;
                    begun.map(|(new, seen)| {
                        playing = Some(new);
                        let mut metadata = Fields::new();
                        if !options.ignored.is_empty() {
                            metadata.insert("ignored_options".into(), options.ignored.into());
                        }
                        request::answer(&id, &self.name, &seen, None, &metadata)
                    })
                }
                Deed::Step(action) => self.step(&mut playing, action).await.map(|turn| {
                    stepped = true;
                    let metadata = turn.end.as_ref().map(request::ended).unwrap_or_default();
                    request::answer(&id, &self.name, &turn.seen, Some(turn.reward), &metadata)
                }),
                Deed::Close => {
                    let was = playing.is_some();
                    self.leave(playing.take()).await;
                    Ok(request::closed(&id, &self.name, was))
                }
            };
            let wrong = |wrong: Complaint| request::complaint(&id, Some(&self.name), &wrong);
            // Whoever does not listen any more needs no answer.
            let _ = self.answers.send(answer.unwrap_or_else(wrong));
            let (name, goes_on) = (self.name.clone(), playing.is_some());
            let _ = self.done.send(Done { name, goes_on, stepped });
        }
        self.leave(playing).await;
    }

    async fn begin(
        &self,
        task: Option<String>,
        seed: Option<u64>,
        number: Option<u64>,
    ) -> Result<(Playing, openenv::Seen), Complaint> {
        let begun = match self.environment.begin(Wish { task, seed, session: None }).await {
            Ok(begun) => begun,
            Err(refusal) => {
                if let Some(number) = number {
                    self.put(number, None);
                }
                return Err(below_data(refusal).into());
            }
        };
        let kept =
            number.map(|number| (number, Trajectory::begin(("episode", &self.name), &begun, seed)));
        Ok((Playing { episode: begun.episode, kept }, begun.seen))
    }

    async fn step(&self, playing: &mut Option<Playing>, action: Fields) -> Result<Turn, Complaint> {
        let Some(Playing { episode, kept }) = playing.as_mut() else {
            let why = "no episode of this name goes on: begin one with a reset";
            return Err(Complaint::new("NO_EPISODE", why));
        };
        let done = Value::Object(action.clone());
        let turn = self.environment.step(episode, action).await.map_err(below_data)?;
        if let Some((_, trajectory)) = kept {
            trajectory.step(&done, &turn);
        }
        if turn.end.is_some() {
            self.leave(playing.take()).await;
        }
        Ok(turn)
    }

    async fn leave(&self, playing: Option<Playing>) {
        let Some(Playing { episode, kept }) = playing else { return };
        self.environment.forget(&episode).await;
        if let Some((number, trajectory)) = kept {
            self.put(number, Some(trajectory.line()));
        }
    }

    fn put(&self, number: u64, line: Option<String>) {
        if let Some(book) = &self.book {
            book.lock().put(number, line);
        }
    }
}

/// The environment does not know that it was asked below `data`.
fn below_data(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Invalid(items) => {
            Refusal::Invalid(items.into_iter().map(|item| item.below(&["data"])).collect())
        }
        other @ (Refusal::Failed(_) | Refusal::NotNow(_)) => other,
    }
}
