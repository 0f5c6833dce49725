//! What is played, as this protocol sees it: something that can be begun, told an action, and
//! forgotten.

use crate::item::Item;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;

/// A JSON object.
pub type Fields = serde_json::Map<String, Value>;

/// What the environment says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct About {
    /// Its name, one word.
    pub name: String,
    /// What it is.
    pub description: String,
    /// More on it.
    pub readme_content: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Who made it.
    pub author: Option<String>,
    /// Where to read on.
    pub documentation_url: Option<String>,
}

/// One action as a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its arguments: a JSON Schema of an object.
    pub arguments: Value,
    /// It only looks.
    pub reads: bool,
    /// Its action: the arguments with the name in this field.
    pub name_field: &'static str,
}

/// One part of the tasks: every task with seeds of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Its name.
    pub name: &'static str,
    /// First seed that belongs to it.
    pub first: u64,
    /// Last seed that belongs to it.
    pub last: u64,
    /// So many of its seeds are listed with every task.
    pub listed: u64,
}

/// What does not change while the server runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalogue {
    /// What it says of itself.
    pub about: About,
    /// JSON Schemas of all actions, one each.
    pub actions: Vec<Value>,
    /// JSON Schema of an observation.
    pub observation: Value,
    /// The actions as tools.
    pub tools: Vec<Tool>,
    /// Tasks by name.
    pub tasks: Vec<String>,
    /// How they are split.
    pub splits: Vec<Split>,
}

/// What an episode is to be begun with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The task; `None`: the environment chooses by the seed.
    pub task: Option<String>,
    /// The seed, at most 2^63 - 1; `None`: the environment draws one.
    pub seed: Option<u64>,
    /// The session that it is for, by whose id it may be recalled.
    pub session: Option<String>,
}

/// What is seen: the text of a JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen(String);

impl Seen {
    /// Of anything that is an object in JSON.
    ///
    /// # Errors
    /// Where it is not.
    pub fn new(seen: &impl Serialize) -> Result<Seen, String> {
        let text = serde_json::to_string(seen).map_err(|error| error.to_string())?;
        match text.starts_with('{') {
            true => Ok(Seen(text)),
            false => Err("what is seen is no object".into()),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As a value.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

/// Why an episode is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// In a word.
    pub reason: String,
    /// A limit ended it, not the agent.
    pub truncated: bool,
}

/// An episode as it was begun.
#[derive(Clone, Debug, PartialEq)]
pub struct Begun {
    /// How the environment calls it.
    pub episode: String,
    /// What it plays.
    pub task: String,
    /// What is seen first.
    pub seen: Seen,
}

/// An episode of a session that another process served, as it stands now.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// The episode, and what is seen now.
    pub begun: Begun,
    /// Steps that were taken.
    pub steps: u64,
    /// Why it is over, if it is.
    pub end: Option<End>,
}

/// What a step led to.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// What is seen.
    pub seen: Seen,
    /// What it paid.
    pub reward: f64,
    /// The episode is over.
    pub end: Option<End>,
}

/// Why nothing has happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// What was sent does not fit.
    Invalid(Vec<Item>),
    /// The environment cannot do it now, in one sentence; it may later, so it can be asked again.
    Failed(String),
    /// It does not go with how things stand, in one sentence: asking again changes nothing.
    NotNow(String),
}

/// What is played.
pub trait Environment: std::fmt::Debug + Send + Sync + 'static {
    /// What does not change.
    fn catalogue(&self) -> &Catalogue;

    /// Begins an episode.
    fn begin(&self, wish: Wish) -> BoxFuture<'_, Result<Begun, Refusal>>;

    /// The episode of a session that this process does not know: where episodes outlive their
    /// process, any process can go on with them.
    fn recall<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<Option<Recalled>, Refusal>> {
        let _ = session;
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Takes one step. The future is always polled to its end.
    fn step<'a>(&'a self, episode: &'a str, action: Fields)
    -> BoxFuture<'a, Result<Turn, Refusal>>;

    /// Nobody will ask for this episode here any more.
    fn forget<'a>(&'a self, episode: &'a str) -> BoxFuture<'a, ()>;

    /// Its client closed the session: nobody will ask for this episode anywhere any more.
    fn close<'a>(&'a self, episode: &'a str) -> BoxFuture<'a, ()> {
        self.forget(episode)
    }
}
