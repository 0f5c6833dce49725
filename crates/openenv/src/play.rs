//! One session: at most one episode at a time, and what its client calls it.

use crate::environment::{
    Begun, Catalogue, End, Environment, Fields, Recalled, Refusal, Seen, Turn, Wish,
};
use crate::item::Item;
use crate::lookup;
use crate::options::Options;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

/// What a reset or a step is answered with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) seen: Seen,
    /// What the step paid; `None` after a reset.
    pub(crate) reward: Option<f64>,
    pub(crate) done: bool,
    /// Remarks on the answer.
    pub(crate) metadata: Fields,
}

/// The episode of a session.
#[derive(Debug)]
struct Playing {
    begun: Begun,
    /// As the client named it.
    name: Option<String>,
    /// The seed, if the client sent it.
    seed: Option<u64>,
    steps: u64,
    end: Option<End>,
    last: Arc<Reply>,
}

#[derive(Debug, Default)]
struct Play {
    playing: Option<Playing>,
    over: bool,
    /// A step failed: another process may have gone on with the episode.
    doubtful: bool,
}

impl Playing {
    fn of(recalled: Recalled) -> Playing {
        let Recalled { begun, steps, end } = recalled;
        let metadata = end.as_ref().map(ended).unwrap_or_default();
        let (seen, done) = (begun.seen.clone(), end.is_some());
        let last = Arc::new(Reply { seen, reward: None, done, metadata });
        Playing { begun, name: None, seed: None, steps, end, last }
    }
}

/// One session. Its lock is held as long as a step runs: steps come one after another.
#[derive(Debug)]
pub(crate) struct Session {
    /// Its id; `None` where it serves one call only.
    pub(crate) id: Option<String>,
    environment: Arc<dyn Environment>,
    play: Mutex<Play>,
    /// Milliseconds since the server began: of the last request.
    pub(crate) used: AtomicU64,
    /// The same of the last sign of life from its socket.
    pub(crate) heard: AtomicU64,
}

/// What a step asks for.
#[derive(Debug)]
enum Deed {
    Act(Fields),
    ListTools,
    CallTool(String, Fields),
}

impl Session {
    /// A session without an episode.
    pub(crate) fn new(id: Option<String>, environment: Arc<dyn Environment>) -> Session {
        let play = Mutex::default();
        Session { id, environment, play, used: AtomicU64::new(0), heard: AtomicU64::new(0) }
    }

    /// A session that another process served. What its client called the episode is not known.
    pub(crate) fn recalled(
        id: String,
        environment: Arc<dyn Environment>,
        recalled: Recalled,
    ) -> Session {
        let playing = Some(Playing::of(recalled));
        let play = Mutex::new(Play { playing, ..Play::default() });
        Session { play, ..Session::new(Some(id), environment) }
    }

    /// What is played.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        self.environment.catalogue()
    }

    /// Begins an episode; the one before it is forgotten.
    pub(crate) async fn reset(&self, options: Options) -> Result<Arc<Reply>, Refusal> {
        let mut play = self.play.lock().await;
        let mut metadata = Fields::new();
        if !options.ignored.is_empty() {
            metadata.insert("ignored_options".into(), options.ignored.clone().into());
        }
        self.begin(&mut play, options, metadata).await
    }

    async fn begin(
        &self,
        play: &mut Play,
        options: Options,
        metadata: Fields,
    ) -> Result<Arc<Reply>, Refusal> {
        if play.over {
            return Err(Refusal::NotNow("the session is over: open another one".into()));
        }
        let Options { task, seed, episode_id: name, .. } = options;
        let begun = self.environment.begin(Wish { task, seed, session: self.id.clone() }).await?;
        let seen = begun.seen.clone();
        let last = Arc::new(Reply { seen, reward: None, done: false, metadata });
        let playing = Playing { begun, name, seed, steps: 0, end: None, last: last.clone() };
        if let Some(before) = play.playing.replace(playing) {
            self.environment.forget(&before.begun.episode).await;
        }
        Ok(last)
    }

    /// Takes a step, which may be a call of a tool.
    pub(crate) async fn step(&self, action: Fields) -> Result<Arc<Reply>, Refusal> {
        match deed(action)? {
            Deed::Act(action) => self.act(action).await,
            Deed::ListTools => {
                let tools: Vec<_> = self.environment.catalogue().tools.iter().collect();
                let tools: Vec<_> = tools.iter().map(|tool| lookup::short(tool)).collect();
                let seen = Seen::new(&json!({"tools": tools})).map_err(Refusal::Failed)?;
                self.remark(seen).await
            }
            Deed::CallTool(name, arguments) => {
                let called = self.call(&name, arguments).await;
                let (seen, turn) = lookup::called(&name, called)?;
                match turn {
                    Some(turn) => Ok(Arc::new(Reply { seen, ..(*turn).clone() })),
                    None => self.remark(seen).await,
                }
            }
        }
    }

    /// Calls a tool; it is a step.
    pub(crate) async fn call(&self, name: &str, given: Fields) -> Result<Arc<Reply>, Refusal> {
        let tool = lookup::tool(self.environment.catalogue(), name)?;
        let mut action = given;
        action.insert(tool.name_field.into(), tool.name.clone().into());
        self.act(action).await
    }

    async fn act(&self, action: Fields) -> Result<Arc<Reply>, Refusal> {
        let play = &mut *self.play.lock().await;
        self.catch_up(play).await?;
        let mut metadata = Fields::new();
        if play.playing.is_none() {
            self.begin(play, Options::default(), Fields::new()).await?;
            metadata.insert("begun_without_reset".into(), true.into());
        }
        let Some(playing) = play.playing.as_mut() else {
            return Err(Refusal::Failed("there is no episode: call reset".into()));
        };
        if playing.end.is_some() {
            playing.steps += 1;
            let mut after = (*playing.last).clone();
            after.reward = Some(0.0);
            after.metadata.insert("after_done".into(), true.into());
            return Ok(Arc::new(after));
        }
        let stepped = self.environment.step(&playing.begun.episode, action).await;
        if let Err(Refusal::Failed(_)) = &stepped {
            play.doubtful = true;
        }
        let turn = stepped?;
        playing.steps += 1;
        let Turn { seen, reward, end } = turn;
        metadata.extend(end.as_ref().map(ended).unwrap_or_default());
        let done = end.is_some();
        playing.end = end;
        playing.last = Arc::new(Reply { seen, reward: Some(reward), done, metadata });
        Ok(playing.last.clone())
    }

    /// After a step that failed: how the episode stands, which another process may know better.
    async fn catch_up(&self, play: &mut Play) -> Result<(), Refusal> {
        let Some(id) = self.id.as_deref().filter(|_| play.doubtful) else { return Ok(()) };
        if let Some(recalled) = self.environment.recall(id).await? {
            let before = play.playing.take();
            let same = before.filter(|before| before.begun.episode == recalled.begun.episode);
            let (name, seed) = same.map(|same| (same.name, same.seed)).unwrap_or_default();
            play.playing = Some(Playing { name, seed, ..Playing::of(recalled) });
        }
        play.doubtful = false;
        Ok(())
    }

    /// An answer to a step that takes no time and changes nothing.
    async fn remark(&self, seen: Seen) -> Result<Arc<Reply>, Refusal> {
        let mut play = self.play.lock().await;
        if play.playing.is_none() {
            self.begin(&mut play, Options::default(), Fields::new()).await?;
        }
        let mut done = false;
        if let Some(playing) = play.playing.as_mut() {
            playing.steps += 1;
            done = playing.end.is_some();
        }
        Ok(Arc::new(Reply { seen, reward: Some(0.0), done, metadata: Fields::new() }))
    }

    /// What is known of the session. `resumed`: with the last answer, which its client may have
    /// missed.
    pub(crate) async fn state(&self, resumed: bool) -> Value {
        let play = self.play.lock().await;
        let mut state = json!({
            "episode_id": null, "step_count": 0, "session_id": self.id, "task": null,
            "seed": null, "record": null, "done": false, "done_reason": null,
        });
        if let Some(playing) = &play.playing {
            let Playing { begun, name, .. } = playing;
            state["episode_id"] = name.as_ref().unwrap_or(&begun.episode).as_str().into();
            state["step_count"] = playing.steps.into();
            state["task"] = begun.task.as_str().into();
            state["seed"] = playing.seed.into();
            state["record"] = begun.episode.as_str().into();
            state["done"] = playing.end.is_some().into();
            state["done_reason"] = playing.end.as_ref().map(|end| end.reason.as_str()).into();
            if resumed {
                let Reply { seen, reward, done, metadata } = &*playing.last;
                let mut observation = seen.value();
                observation["metadata"] = metadata.clone().into();
                state["last"] = json!({"observation": observation, "reward": reward, "done": done});
            }
        }
        state
    }

    /// Whether a reset or a step is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.play.try_lock().is_err()
    }

    /// Whether there is an episode that goes on.
    pub(crate) async fn goes_on(&self) -> bool {
        self.play.lock().await.playing.as_ref().is_some_and(|playing| playing.end.is_none())
    }

    /// Ends the session: its episode is forgotten as soon as no step runs any more. `closed`: by
    /// its client.
    pub(crate) async fn end(&self, closed: bool) {
        let mut play = self.play.lock().await;
        play.over = true;
        let Some(Playing { begun, .. }) = play.playing.take() else { return };
        match closed {
            true => self.environment.close(&begun.episode).await,
            false => self.environment.forget(&begun.episode).await,
        }
    }

    /// A request came at this time.
    pub(crate) fn touch(&self, now: u64) {
        self.used.store(now, Ordering::Relaxed);
        self.heard.store(now, Ordering::Relaxed);
    }
}

/// Remarks on an end.
fn ended(end: &End) -> Fields {
    let reason = Value::from(end.reason.as_str());
    let flags = [("terminated", !end.truncated), ("truncated", end.truncated)];
    let flags = flags.map(|(name, set)| (name.to_string(), set.into()));
    [("done_reason".to_string(), reason)].into_iter().chain(flags).collect()
}

/// What an action is. Its `metadata` is allowed and means nothing.
fn deed(mut action: Fields) -> Result<Deed, Refusal> {
    let invalid = |item: Item| Err(Refusal::Invalid(vec![item]));
    match action.remove("metadata") {
        None | Some(Value::Object(_)) => {}
        Some(other) => return invalid(Item::no_object(&["metadata"], &other)),
    }
    let kind = action.get("type").and_then(Value::as_str);
    let calls = kind == Some("call_tool") || (kind.is_none() && action.contains_key("tool_name"));
    if !calls && kind != Some("list_tools") {
        return Ok(Deed::Act(action));
    }
    action.remove("type");
    let whole = Value::Object(action.clone());
    let deed = if calls {
        let name = match action.remove("tool_name") {
            Some(Value::String(name)) => name,
            Some(other) => {
                let msg = "Input should be a valid string";
                return invalid(Item::new("string_type", &["tool_name"], msg, other));
            }
            None => return invalid(Item::missing(&["tool_name"], &whole)),
        };
        match action.remove("arguments") {
            None => Deed::CallTool(name, Fields::new()),
            Some(Value::Object(arguments)) => Deed::CallTool(name, arguments),
            Some(other) => return invalid(Item::no_object(&["arguments"], &other)),
        }
    } else {
        Deed::ListTools
    };
    match action.iter().next() {
        None => Ok(deed),
        Some((name, value)) => invalid(Item::extra(&[name], value)),
    }
}
