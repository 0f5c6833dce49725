//! One WebSocket: requests in, one answer each, in order. The socket is read while a step runs, so
//! pings are answered and a client that vanishes is noticed at once.

use crate::desk::Desk;
use crate::environment::Fields;
use crate::item::Item;
use crate::options::Options;
use crate::play::Session;
use crate::rpc;
use crate::settings::MESSAGE_MAX;
use crate::table::{Denied, Line};
use crate::wire;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use bytes::Bytes;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

/// Requests that a client may send ahead; then it has to read.
const AHEAD_MAX: usize = 64;
/// A client gets this long to close its side.
const FAREWELL: Duration = Duration::from_secs(2);
/// Pings without any sign of life before a client that did answer some is gone.
const SILENT_PINGS: u32 = 3;
const SERVICE_RESTART: u16 = 1012;

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Messages of OpenEnv.
    Env,
    /// JSON-RPC.
    Rpc,
}

/// An answer, and whether the server hangs up after it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: Option<String>,
    pub(crate) hang_up: bool,
    /// The session has a new last answer, which its client gets.
    pub(crate) moved: bool,
}

impl Answer {
    pub(crate) fn say(text: String) -> Answer {
        Answer { text: Some(text), hang_up: false, moved: false }
    }

    fn last(text: String) -> Answer {
        Answer { text: Some(text), hang_up: true, moved: false }
    }
}

/// How a socket ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It broke.
    Broken,
    /// The client said so, or the server hangs up.
    Closed,
    /// The server hangs up; the session can be gone on with.
    Left(u16, &'static str),
}

struct Conversation {
    desk: Arc<Desk>,
    socket: WebSocket,
    line: Line,
    dialect: Dialect,
    queue: VecDeque<Utf8Bytes>,
    queued: usize,
    running: Option<oneshot::Receiver<Answer>>,
    /// When the running answer is late.
    late: Instant,
    resumed: bool,
    ponged: bool,
    silent: u32,
}

/// Talks until one side leaves.
pub(crate) async fn converse(
    desk: Arc<Desk>,
    socket: WebSocket,
    dialect: Dialect,
    connected: Result<Line, Denied>,
) {
    let line = match connected {
        Ok(line) => line,
        Err(denied) => return refuse(&desk, socket, dialect, &denied).await,
    };
    let resumed = line.resumed;
    let mut talk = Conversation {
        late: Instant::now(),
        queue: VecDeque::new(),
        queued: 0,
        running: None,
        ponged: false,
        silent: 0,
        desk,
        socket,
        line,
        dialect,
        resumed,
    };
    let end = talk.talk().await;
    talk.line.hang_up(end == End::Closed);
    match end {
        End::Broken => {}
        End::Closed => talk.farewell(close_code::NORMAL, "").await,
        End::Left(code, why) => talk.farewell(code, why).await,
    }
}

/// First the upgrade, then the reason: clients show it at their first call.
async fn refuse(desk: &Desk, mut socket: WebSocket, dialect: Dialect, denied: &Denied) {
    let mut more = Fields::new();
    if let Denied::Full { active, max, .. } = denied {
        more.insert("active_sessions".into(), (*active).into());
        more.insert("max_sessions".into(), (*max).into());
    }
    let text = match (dialect, denied) {
        (Dialect::Rpc, _) => rpc::failure(&Value::Null, rpc::NO_ROOM, denied.sentence(), more),
        (_, Denied::Full { .. }) => wire::error("CAPACITY_REACHED", denied.sentence(), more),
        _ => wire::error("SESSION_ERROR", denied.sentence(), more),
    };
    let sent = timeout(desk.settings.write, socket.send(Message::text(text))).await;
    if matches!(sent, Ok(Ok(()))) {
        say_goodbye(&mut socket, close_code::NORMAL, "").await;
    }
}

/// Closes, and reads on until the other side has: what was sent must not be lost.
async fn say_goodbye(socket: &mut WebSocket, code: u16, why: &'static str) {
    let frame = CloseFrame { code, reason: Utf8Bytes::from_static(why) };
    let goodbye = async {
        if socket.send(Message::Close(Some(frame))).await.is_ok() {
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    let _ = timeout(FAREWELL, goodbye).await;
}

impl Conversation {
    async fn talk(&mut self) -> End {
        let period = self.desk.settings.ping;
        let mut pings = interval_at(Instant::now() + period, period);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (desk, leave) = (self.desk.clone(), self.line.leave.clone());
        loop {
            let stopping = desk.stop.is_cancelled();
            if self.running.is_none() {
                if stopping {
                    return End::Left(SERVICE_RESTART, "the server is stopping");
                }
                self.begin_next();
            }
            let room = self.queue.len() < AHEAD_MAX && self.queued <= MESSAGE_MAX;
            let busy = self.running.is_some();
            let ended = tokio::select! {
                message = self.socket.recv(), if room => self.take(message).await,
                answer = wait(&mut self.running, self.late), if busy => self.give(answer).await,
                _ = pings.tick() => self.ping().await,
                () = leave.cancelled() => {
                    let why = "the session is closed: it was idle for too long, or another \
                               socket took it up";
                    self.send(Message::text(wire::error("SESSION_ERROR", why, Fields::new()))).await;
                    Some(End::Closed)
                }
                () = desk.stop.cancelled(), if !stopping => None,
            };
            if let Some(end) = ended {
                return end;
            }
        }
    }

    /// Begins with the next request, if there is one.
    fn begin_next(&mut self) {
        let Some(text) = self.queue.pop_front() else { return };
        self.queued -= text.len();
        let (tell, told) = oneshot::channel();
        let session = self.line.session.clone();
        let (dialect, resumed) = (self.dialect, self.resumed);
        // A task of its own: a client that goes away does not leave a step half done.
        self.desk.tasks.spawn(async move {
            let answer = match dialect {
                Dialect::Env => answer(&session, &text, resumed).await,
                Dialect::Rpc => rpc::on_socket(&session, &text).await,
            };
            let _ = tell.send(answer);
        });
        self.running = Some(told);
        self.late = Instant::now() + self.desk.settings.answer;
    }

    async fn take(&mut self, message: Option<Result<Message, axum::Error>>) -> Option<End> {
        let message = match message {
            Some(Ok(message)) => message,
            Some(Err(error)) => return Some(ended_by(&error)),
            None => return Some(End::Broken),
        };
        self.silent = 0;
        self.line.session.heard.store(self.desk.table.now(), Ordering::Relaxed);
        match message {
            Message::Text(text) if text.len() > MESSAGE_MAX => Some(TOO_LONG),
            Message::Text(text) => {
                self.line.session.touch(self.desk.table.now());
                self.queued += text.len();
                self.queue.push_back(text);
                None
            }
            Message::Binary(data) if data.len() > MESSAGE_MAX => Some(TOO_LONG),
            Message::Binary(_) => {
                let why = "a binary frame: messages are JSON in text frames";
                self.hang_up_saying(why).await
            }
            Message::Pong(_) => {
                self.ponged = true;
                None
            }
            Message::Ping(_) => None,
            // A bare close frame of a client that may come back is no `close` message.
            Message::Close(frame) => {
                let normal = frame.is_none_or(|frame| frame.code == close_code::NORMAL);
                Some(if normal { End::Closed } else { End::Broken })
            }
        }
    }

    async fn hang_up_saying(&mut self, why: &str) -> Option<End> {
        let text = match self.dialect {
            Dialect::Env => wire::error("SESSION_ERROR", why, Fields::new()),
            Dialect::Rpc => {
                rpc::failure(&Value::Null, rpc::NO_ROOM, why.to_string(), Fields::new())
            }
        };
        self.send(Message::text(text)).await;
        Some(End::Closed)
    }

    async fn give(&mut self, answer: Option<Answer>) -> Option<End> {
        self.running = None;
        let answer = answer.unwrap_or_else(|| {
            let limit = self.desk.settings.answer.as_secs();
            let why = format!(
                "no answer within {limit} s. A step that was begun goes on and counts: ask for the \
                 state in a moment"
            );
            Answer::say(match self.dialect {
                Dialect::Env => wire::error("EXECUTION_ERROR", why, Fields::new()),
                Dialect::Rpc => rpc::failure(&Value::Null, rpc::FAILED, why, Fields::new()),
            })
        });
        if answer.moved {
            self.resumed = false;
        }
        if let Some(text) = answer.text
            && !self.send(Message::text(text)).await
        {
            return Some(End::Broken);
        }
        self.line.session.touch(self.desk.table.now());
        answer.hang_up.then_some(End::Closed)
    }

    /// A client whose pongs never come through a tunnel is not held to them, and none while it
    /// waits for an answer.
    async fn ping(&mut self) -> Option<End> {
        self.silent += 1;
        if self.ponged && self.running.is_none() && self.silent > SILENT_PINGS {
            return Some(End::Broken);
        }
        match self.send(Message::Ping(Bytes::new())).await {
            true => None,
            false => Some(End::Broken),
        }
    }

    /// Whether it was taken in time.
    async fn send(&mut self, message: Message) -> bool {
        let sent = timeout(self.desk.settings.write, self.socket.send(message)).await;
        matches!(sent, Ok(Ok(())))
    }

    async fn farewell(&mut self, code: u16, why: &'static str) {
        say_goodbye(&mut self.socket, code, why).await;
    }
}

const TOO_LONG: End = End::Left(close_code::SIZE, "frame exceeds limit of 16777216 bytes");

/// How a socket ends from which nothing more can be read. What is wrong with a frame is told; the
/// errors' types are those of a crate below axum, their texts are held by tests.
fn ended_by(error: &axum::Error) -> End {
    let chain = std::iter::successors(Some(error as &dyn std::error::Error), |e| e.source());
    let text: String = chain.map(|error| error.to_string().to_lowercase() + "\n").collect();
    let says = |words: &str| text.contains(words);
    if says("too long") {
        TOO_LONG
    } else if says("utf-8") {
        End::Left(close_code::INVALID, "a text frame that is no UTF-8")
    } else if says("protocol error") && !says("without closing handshake") {
        End::Left(close_code::PROTOCOL, "a frame that the protocol does not have")
    } else {
        End::Broken
    }
}

/// The answer; `None` where it is late.
async fn wait(running: &mut Option<oneshot::Receiver<Answer>>, late: Instant) -> Option<Answer> {
    match running {
        Some(told) => tokio::select! {
            answer = told => Some(answer.unwrap_or_else(|_| {
                let why = "a defect of the server ended the request";
                Answer::last(wire::error("EXECUTION_ERROR", why, Fields::new()))
            })),
            () = tokio::time::sleep_until(late) => None,
        },
        None => std::future::pending().await,
    }
}

/// The answer to one message of OpenEnv.
async fn answer(session: &Session, text: &str, resumed: bool) -> Answer {
    let message = match serde_json::from_str(text) {
        Ok(Value::Object(message)) => message,
        Ok(other) => {
            let why = format!("a message is an object with the field `type`, not {}", sort(&other));
            return Answer::last(wire::error("SESSION_ERROR", why, Fields::new()));
        }
        Err(error) => {
            let why = format!("Invalid JSON: {error}");
            return Answer::say(wire::error("INVALID_JSON", why, Fields::new()));
        }
    };
    let kind = match message.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    };
    let data = match kind.as_str() {
        "reset" => data(message, Some(Fields::new())),
        "step" | "mcp" => data(message, None),
        "state" | "close" => nothing_more(&message, &["type"]).map(|()| Fields::new()),
        _ => {
            let shown: String = kind.chars().take(100).collect();
            let why = format!("Unknown message type: {shown}");
            return Answer::say(wire::error("UNKNOWN_TYPE", why, Fields::new()));
        }
    };
    let data = match data {
        Ok(data) => data,
        Err(items) => return Answer::say(wire::invalid(&items)),
    };
    let replied = match kind.as_str() {
        "reset" => match Options::read(&data) {
            Ok(options) => session.reset(options).await,
            Err(items) => return Answer::say(wire::invalid(&items)),
        },
        "step" => session.step(data).await,
        "state" => return Answer::say(wire::typed("state", &session.state(resumed).await)),
        "mcp" => {
            let reply = rpc::on_session(session, data.into()).await;
            return Answer { moved: true, ..Answer::say(wire::typed("mcp", &reply)) };
        }
        _ => return Answer { text: None, hang_up: true, moved: false },
    };
    match replied {
        Ok(reply) => Answer { moved: true, ..Answer::say(wire::frame(&reply)) },
        Err(refusal) => Answer::say(wire::refused(&refusal)),
    }
}

fn sort(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a flag",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The data of a message. `default`: it may be left out.
fn data(mut message: Fields, default: Option<Fields>) -> Result<Fields, Vec<Item>> {
    nothing_more(&message, &["type", "data"])?;
    match (message.remove("data"), default) {
        (Some(Value::Object(data)), _) => Ok(data),
        (Some(other), _) => Err(vec![Item::no_object(&["data"], &other)]),
        (None, Some(default)) => Ok(default),
        (None, None) => Err(vec![Item::missing(&["data"], &message.into())]),
    }
}

/// No other fields than these.
pub(crate) fn nothing_more(message: &Fields, known: &[&str]) -> Result<(), Vec<Item>> {
    let extra = message.iter().filter(|(name, _)| !known.contains(&name.as_str()));
    let extra: Vec<_> = extra.map(|(name, value)| Item::extra(&[name], value)).collect();
    if extra.is_empty() { Ok(()) } else { Err(extra) }
}
