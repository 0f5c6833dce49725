//! An agent that plays over HTTP, finds its server again when it went away, and goes on.

use super::project::{DEADLINE, until};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A step that has to wait for a container takes this long at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) body: String,
}

/// Asks once.
pub(crate) fn ask(
    address: &str,
    (method, path): (&str, &str),
    session: Option<&str>,
    body: &str,
) -> std::io::Result<Reply> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let session = session.map(|id| format!("openenv-session-id: {id}\r\n")).unwrap_or_default();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\n{session}content-length: {length}\r\n\r\n{body}"
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let broken = || std::io::Error::other(format!("half a reply: {text:?}"));
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or_else(broken)?;
    let named = head.lines().find_map(|line| line.strip_prefix("openenv-session-id: "));
    let wanted = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    if wanted.is_some_and(|wanted| wanted.trim() != body.len().to_string()) {
        return Err(broken());
    }
    Ok(Reply { status, session: named.map(str::to_string), body: body.to_string() })
}

/// An agent with an episode of its own.
pub(crate) struct Agent<'a> {
    /// Where the server is now, if anywhere.
    address: &'a dyn Fn() -> Option<String>,
    session: String,
    steps: u64,
}

impl<'a> Agent<'a> {
    /// Begins an episode; what it saw first.
    pub(crate) fn begin(
        address: &'a dyn Fn() -> Option<String>,
        task: &str,
        seed: u64,
    ) -> (Agent<'a>, String) {
        let body = json!({"task": task, "seed": seed}).to_string();
        let at = address().expect("it is served");
        let reply = ask(&at, ("POST", "/reset"), None, &body).expect("an answer");
        assert_eq!(reply.status, 200, "{}", reply.body);
        let session = reply.session.expect("a session");
        (Agent { address, session, steps: 0 }, reply.body)
    }

    /// Takes a step, again until it is taken; the reply, unless it was lost on the way.
    pub(crate) fn step(&mut self, action: &Value) -> Option<String> {
        let body = json!({"action": action}).to_string();
        let begun = Instant::now();
        self.steps += 1;
        loop {
            let asked =
                (self.address)().map(|at| ask(&at, ("POST", "/step"), Some(&self.session), &body));
            match &asked {
                Some(Ok(reply)) if reply.status == 200 => return Some(reply.body.clone()),
                // No failure of the server: it would be the same again.
                Some(Ok(reply)) => assert!(reply.status >= 500, "step {}: {reply:?}", self.steps),
                Some(Err(_)) | None => {}
            }
            assert!(begun.elapsed() < DEADLINE, "step {} is never taken: {asked:?}", self.steps);
            if self.state()["step_count"] == self.steps {
                return None;
            }
        }
    }

    /// Its state, as soon as somebody tells it.
    pub(crate) fn state(&self) -> Value {
        until("somebody knows the session", || {
            let reply = ask(&(self.address)()?, ("GET", "/state"), Some(&self.session), "").ok()?;
            (reply.status == 200).then(|| serde_json::from_str(&reply.body).expect("JSON"))
        })
    }
}
