//! Messages that are nearly right: none may break the server, and each gets its answer.
//! `MAYDAY_SOAK` asks for two hundred thousand of them.

use super::toy::Server;
use axum::body::Body;
use axum::http::Request;
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use std::io::Write;
use tokio_tungstenite::tungstenite::Message;

/// Messages to each of three: HTTP, `/ws`, `/mcp`.
#[expect(clippy::disallowed_methods, reason = "the switch to the full counts")]
fn rounds() -> usize {
    if std::env::var_os("MAYDAY_SOAK").is_some() { 66_667 } else { 3000 }
}

/// Says how many were sent, past the capture of the test runner.
fn say(count: usize, over: &str) {
    let line = format!("malformed messages: {count} over {over}\n");
    // A harness that has closed its own stderr reads nothing.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

const MESSAGES: [&str; 16] = [
    r#"{"type":"reset","data":{"seed":7,"episode_id":"e1","task":"two"}}"#,
    r#"{"type":"step","data":{"op":"inc","amount":2,"metadata":{"a":[1]}}}"#,
    r#"{"type":"state"}"#,
    r#"{"type":"close"}"#,
    r#"{"type":"mcp","data":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inc"}}}"#,
    r#"{"type":"step","data":{"type":"call_tool","tool_name":"inc","arguments":{"amount":2}}}"#,
    r#"{"type":"step","data":{"type":"list_tools"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"inc","arguments":{}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"openenv/session/close","params":{"session_id":"s"}}"#,
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
    r#"{"seed":1,"episode_id":null,"task":"one","more":{"a":1}}"#,
    r#"{"action":{"op":"inc","amount":1},"timeout_s":1.5,"request_id":"r"}"#,
    r#"{"split":"test","index":3}"#,
    r#"{"split":"train","start":1,"stop":2}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
];
const PIECES: [&str; 20] = [
    "null",
    "true",
    "-1",
    "1e999",
    "9223372036854775808",
    "\"\"",
    "[]",
    "{}",
    "\\u0000",
    "\\ud800",
    "\u{1f6a8}",
    "{\"type\":",
    "\"seed\"",
    "\"session_id\"",
    ",",
    "}",
    "\"",
    "0.1",
    "[[[[",
    "\n",
];

/// Dice of which every throw is known.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }

    fn message(&mut self) -> String {
        let mut text: Vec<char> = MESSAGES[self.below(MESSAGES.len())].chars().collect();
        for _ in 0..self.below(4) {
            let at = self.below(text.len() + 1);
            let end = (at + self.below(12)).min(text.len());
            match self.below(5) {
                0 => drop(text.drain(at..end)),
                1 => drop(text.splice(at..end, PIECES[self.below(PIECES.len())].chars())),
                2 => drop(text.splice(at..at, PIECES[self.below(PIECES.len())].chars())),
                3 => text.truncate(at),
                _ => drop(text.splice(at..at, "[".repeat(self.below(300)).chars())),
            }
        }
        text.into_iter().collect()
    }
}

#[tokio::test]
async fn over_http_nothing_is_answered_with_5xx() {
    let server = Server::small(64).await;
    let mut dice = Dice(1);
    let paths =
        ["/reset", "/step", "/mcp", "/mcp/v1", "/toy/tasks", "/toy/task", "/toy/task_range"];
    for _ in 0..rounds() {
        let (path, text) = (paths[dice.below(paths.len())], dice.message());
        let request = Request::post(path)
            .header("host", "localhost")
            .header("content-type", ["application/json", "text/plain", ""][dice.below(8).min(2)])
            .header("accept", "application/json, text/event-stream")
            .header("openenv-session-id", ["", "x", "\u{fc}"][dice.below(8).min(2)])
            .body(Body::from(text.clone()))
            .unwrap();
        let (status, _, reply) = server.ask(request).await;
        assert!(status.as_u16() < 500, "{path} {text}: {status} {reply}");
        if path == "/mcp" {
            let reply: Value = serde_json::from_str(&reply).unwrap();
            assert_eq!((status.as_u16(), &reply["jsonrpc"]), (200, &Value::from("2.0")), "{text}");
        }
    }
    say(rounds(), "HTTP");
}

#[tokio::test]
async fn on_sockets_every_message_is_answered_once_or_the_socket_closes() {
    let server = Server::small(8).await;
    for (path, seed) in [("/ws", 2), ("/mcp", 3)] {
        let mut dice = Dice(seed);
        let mut socket = server.socket(path).await;
        for _ in 0..rounds() {
            let text = dice.message();
            if socket.0.send(Message::text(text.clone())).await.is_ok() {
                let answer = tokio::time::timeout(super::toy::DEADLINE, socket.0.next()).await;
                match answer.unwrap_or_else(|_| panic!("no answer to {text}")) {
                    Some(Ok(Message::Text(reply))) => {
                        let reply: Value = serde_json::from_str(&reply).unwrap();
                        assert!(reply["type"].is_string() || reply["jsonrpc"] == "2.0", "{reply}");
                        // One that is followed by the end is seen at the next message.
                        continue;
                    }
                    Some(Ok(Message::Close(_)) | Err(_)) | None => {}
                    Some(Ok(other)) => panic!("{text}: {other:?}"),
                }
            }
            socket = server.socket(path).await;
        }
        assert_eq!(server.get("/health").await.0.as_u16(), 200);
        say(rounds(), path);
    }
    super::toy::until("no place is lost", || server.desk.load().0 <= 1).await;
}
