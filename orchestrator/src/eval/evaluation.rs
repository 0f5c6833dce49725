//! An evaluation as agents and as the control port see it: assignments played over the sessions.

use super::examine::examine;
use super::office::{Admission, Close, Left, Office, Seat, Standing, World};
use super::outcome::{Assessment, Ended, Ending, Outcome};
use super::secret::{Secret, VARIABLE};
use crate::agents_port::Gym;
use crate::failure::Failure;
use crate::ids;
use crate::sessions::Sessions;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use openenv::{Begun, Catalogue, Environment, Fields, Item, Refusal, Turn, Wish};
use parking_lot::Mutex;
use scenario::Scenario;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Which assignment: the same one for the same words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignmentKey {
    /// The evaluation, a random name.
    pub evaluation: String,
    /// Name of the scenario.
    pub scenario: String,
    /// The seed that the evaluation names.
    pub seed: u64,
    /// Which of several plays of the same world, from 0.
    pub repeat: u32,
    /// Which try after failures of the simulator, from 0.
    pub run: u32,
    /// Fingerprint of the secret that the evaluation began with.
    pub secret: String,
}

/// The server's side of evaluations. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Evaluation(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    gym: Gym,
    sessions: Arc<Sessions>,
    secret: Secret,
    /// Tasks and scenarios by name of the scenario.
    scenarios: BTreeMap<String, (String, Arc<Scenario>)>,
    catalogue: Catalogue,
    office: Mutex<Office>,
    changes: watch::Sender<()>,
    computing: Handle,
}

impl Evaluation {
    /// Over these sessions, whose rewards are final; has to be called in the runtime that computes.
    pub fn new(sessions: Arc<Sessions>, secret: Secret) -> Evaluation {
        let gym = Gym::new(sessions.clone());
        // What could be played is nobody's business: tasks are given out one by one.
        let catalogue =
            Catalogue { tasks: Vec::new(), splits: Vec::new(), ..gym.catalogue().clone() };
        let tasks = sessions.tasks().iter();
        let tasks = tasks.map(|(task, s)| (s.name.clone(), (task.clone(), s.clone())));
        Evaluation(Arc::new(Inner {
            scenarios: tasks.collect(),
            gym,
            sessions,
            secret,
            catalogue,
            office: Mutex::default(),
            changes: watch::Sender::new(()),
            computing: Handle::current(),
        }))
    }

    /// What can be assigned, by name.
    pub fn scenarios(&self) -> impl Iterator<Item = &Arc<Scenario>> {
        self.0.scenarios.values().map(|(_, scenario)| scenario)
    }

    /// What seeds are made with.
    pub fn secret(&self) -> &Secret {
        &self.0.secret
    }

    /// Gives an assignment out; its task.
    ///
    /// # Errors
    /// For an unknown scenario, and where its world would be another one than the evaluation means.
    pub fn assign(&self, key: &AssignmentKey) -> Result<String, Failure> {
        let AssignmentKey { evaluation, scenario, seed, repeat, run, secret: theirs } = key;
        if *theirs != self.0.secret.fingerprint() {
            return Err(Failure::usage(format!(
                "the server has another secret than when the evaluation began: set {VARIABLE} \
                 there before it starts, and begin again with another --out"
            )));
        }
        if !self.0.scenarios.contains_key(scenario) {
            let known: Vec<_> = self.0.scenarios.keys().map(String::as_str).collect();
            return Err(Failure::usage(action::near::suggestion("scenario", scenario, &known)));
        }
        let secret = &self.0.secret;
        let numbers = [seed.to_string(), repeat.to_string(), run.to_string()];
        let words = [evaluation, scenario, &numbers[0], &numbers[1], &numbers[2]];
        let task = format!("task-{}", secret.name(&words.map(String::as_str)));
        let world = World { scenario: scenario.clone(), seed: secret.seed(scenario, *seed) };
        self.0.office.lock().assign(&task, world);
        self.0.changes.send_replace(());
        Ok(task)
    }

    /// How an assignment stands, as soon as it stands otherwise than `known`.
    pub async fn watch(&self, task: &str, known: Option<Standing>) -> Option<Standing> {
        let mut changes = self.0.changes.subscribe();
        loop {
            let standing = self.0.office.lock().standing(task);
            if standing.is_none() || standing != known || standing == Some(Standing::Over) {
                return standing;
            }
            // The sender lives as long as this does.
            let _ = changes.changed().await;
        }
    }

    /// Ends an assignment; what it came to. `None`: it is unknown.
    pub async fn finish(&self, task: &str) -> Option<Ended> {
        let mut changes = self.0.changes.subscribe();
        loop {
            let close = self.0.office.lock().close(task);
            match close {
                Close::Unknown => return None,
                Close::Over(ended) => return Some(ended),
                Close::Wait => {
                    let _ = changes.changed().await;
                }
                Close::HandOff(seat) => self.0.hand_off(seat),
                Close::Empty { world, reached } => self.0.play_empty(task, world, reached),
            }
        }
    }

    /// Forgets an assignment.
    pub async fn discard(&self, task: &str) {
        let episodes = self.0.office.lock().discard(task);
        for episode in episodes {
            self.0.gym.forget(&episode).await;
        }
        self.0.changes.send_replace(());
    }
}

impl Inner {
    /// Begins an episode in this world.
    async fn play(&self, world: &World) -> Result<Begun, Refusal> {
        let task = self.scenarios.get(&world.scenario).map(|(task, _)| task.clone());
        // Not by the session's name: what an agent left is not recalled here, it is graded.
        let wish = Wish { task, seed: Some(world.seed), session: None };
        self.gym.begin(wish).await
    }

    /// Grades an attempt that is over, or abandons it; nobody has to wait.
    fn hand_off(self: &Arc<Self>, seat: Seat) {
        let own = self.clone();
        self.graded(seat.task.clone(), async move {
            let outcome = own.outcome_of(&seat).await;
            own.gym.forget(&seat.episode).await;
            outcome
        });
    }

    async fn outcome_of(&self, seat: &Seat) -> Outcome {
        let trouble = self.office.lock().trouble(&seat.task);
        match (trouble, ids::parse(&seat.episode)) {
            (Some(why), _) => Outcome::Failed(why),
            (None, None) => Outcome::Failed(format!("{} is no episode", seat.episode)),
            (None, Some(id)) => match Box::pin(examine(&self.sessions, id)).await {
                Ok(assessment) => Outcome::Scored(Box::new(assessment)),
                Err(why) => Outcome::Failed(why),
            },
        }
    }

    /// An assignment that no agent plays: handed off at the page. One that no agent has ever begun
    /// is worth nothing, even where doing nothing would be right.
    fn play_empty(self: &Arc<Self>, task: &str, world: World, reached: bool) {
        let (own, name) = (self.clone(), task.to_string());
        self.graded(task.to_string(), async move {
            let begun = match own.play(&world).await {
                Ok(begun) => begun,
                Err(refusal) => return Outcome::Failed(sentence(&refusal)),
            };
            let seat = Seat { task: name, episode: begun.episode, counts: true };
            let outcome = own.outcome_of(&seat).await;
            own.gym.forget(&seat.episode).await;
            match outcome {
                Outcome::Scored(assessment) if !reached => Outcome::Scored(Box::new(Assessment {
                    score: 0.0,
                    terms: Vec::new(),
                    end: Ending::Absent,
                    ..*assessment
                })),
                outcome => outcome,
            }
        });
    }

    /// Does `work` to its end, and writes its outcome down.
    fn graded(
        self: &Arc<Self>,
        task: String,
        work: impl Future<Output = Outcome> + Send + 'static,
    ) {
        let (own, working) = (self.clone(), self.computing.spawn(work));
        self.computing.spawn(async move {
            let defect = |_| Outcome::Failed("a defect of the simulator ended the grading".into());
            let outcome = working.await.unwrap_or_else(defect);
            if let Outcome::Failed(why) = &outcome {
                tracing::info!(task, why, "an attempt is not scored");
            }
            own.office.lock().over(&task, outcome);
            own.changes.send_replace(());
        });
    }

    async fn reset(self: Arc<Self>, wish: Wish) -> Result<Begun, Refusal> {
        let Some(session) = wish.session else {
            return Err(Refusal::NotNow(
                "nothing is played without a session here: reset, and send the session's id back"
                    .into(),
            ));
        };
        let admission = self.office.lock().admit(wish.task.as_deref(), &session);
        let (task, world, counts) = match admission {
            Admission::First(task, world) => (task, world, true),
            Admission::Later(task, world, seat) => {
                seat.into_iter().for_each(|seat| self.hand_off(seat));
                (task, world, false)
            }
            Admission::Again { task, alias, first } => {
                return Ok(Begun { episode: alias, task, seen: first });
            }
            Admission::Unknown => return Err(unknown(&wish.task.unwrap_or_default())),
            Admission::Closed => {
                return Err(Refusal::NotNow("this task is over: nothing more counts".into()));
            }
            Admission::NothingOpen => {
                return Err(Refusal::Failed(
                    "no task is open now: ask again in a moment, or leave".into(),
                ));
            }
        };
        match self.play(&world).await {
            Ok(begun) => {
                let alias = self.office.lock().begun(&task, &begun.episode, &begun.seen, counts);
                self.changes.send_replace(());
                Ok(Begun { episode: alias, task, seen: begun.seen })
            }
            Err(refusal) => {
                if counts {
                    let mut office = self.office.lock();
                    office.over(&task, Outcome::Failed(sentence(&refusal)));
                    drop(office);
                    self.changes.send_replace(());
                }
                Err(refusal)
            }
        }
    }

    async fn stepped(self: Arc<Self>, alias: String, action: Fields) -> Result<Turn, Refusal> {
        let seat = self.office.lock().stepping(&alias);
        let Some(seat) = seat else {
            return Err(Refusal::NotNow("this episode is over: it was handed off".into()));
        };
        let mut turn = self.gym.step(&seat.episode, action).await;
        // Practice pays nothing: what the same world would have paid is nobody's to learn here.
        if let Ok(turn) = &mut turn
            && !seat.counts
        {
            turn.reward = 0.0;
        }
        match &turn {
            Ok(Turn { end: Some(_), .. }) if seat.counts => {
                let seat = self.office.lock().closing(&seat.task);
                seat.into_iter().for_each(|seat| self.hand_off(seat));
            }
            Ok(_) => {}
            Err(Refusal::Invalid(_) | Refusal::NotNow(_)) => self.office.lock().not_stepped(&seat),
            Err(refusal @ Refusal::Failed(_)) if seat.counts => {
                self.office.lock().troubled(&seat.task, &sentence(refusal));
            }
            Err(Refusal::Failed(_)) => {}
        }
        turn
    }

    async fn left(self: Arc<Self>, alias: String) {
        let left = self.office.lock().leave(&alias);
        match left {
            Left::Nothing => {}
            Left::HandOff(seat) => self.hand_off(seat),
            Left::Forget(episode) => {
                self.gym.forget(&episode).await;
                self.changes.send_replace(());
            }
        }
    }
}

fn unknown(task: &str) -> Refusal {
    let shown: String = task.chars().take(100).collect();
    let sentence = format!("no task `{shown}` was given out: expected the one you were assigned");
    Refusal::Invalid(vec![Item::new("literal_error", &["task"], sentence, task.into())])
}

fn sentence(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Failed(why) | Refusal::NotNow(why) => why.clone(),
        Refusal::Invalid(items) => {
            items.iter().map(|item| item.msg.as_str()).collect::<Vec<_>>().join("; ")
        }
    }
}

impl Environment for Evaluation {
    fn catalogue(&self) -> &Catalogue {
        &self.0.catalogue
    }

    fn begin(&self, wish: Wish) -> BoxFuture<'_, Result<Begun, Refusal>> {
        self.0.clone().reset(wish).boxed()
    }

    fn step<'a>(
        &'a self,
        episode: &'a str,
        action: Fields,
    ) -> BoxFuture<'a, Result<Turn, Refusal>> {
        self.0.clone().stepped(episode.to_string(), action).boxed()
    }

    fn forget<'a>(&'a self, episode: &'a str) -> BoxFuture<'a, ()> {
        self.0.clone().left(episode.to_string()).boxed()
    }
}

#[cfg(test)]
mod tests;
