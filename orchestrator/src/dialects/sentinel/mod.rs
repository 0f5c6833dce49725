//! The dialect of Sentinel-SRE: three services, typed commands, OpenEnv's messages over HTTP and
//! WebSocket. HTTP and sockets see the same sessions; a socket has one of its own unless it names
//! another.

mod http;
mod round;
mod socket;
mod tasks;

use super::Dialect;
use crate::stage::{Endpoint, Rooms, Stage};
use axum::Router;
use axum::routing::{get, post};
use round::Round;
use serde_json::Value;
use std::sync::Arc;

/// The dialect.
pub const DIALECT: Dialect = Dialect {
    name: "sentinel",
    summary: "Sentinel-SRE: three services, restarts and looks, over HTTP and WebSocket",
    version: "1.1.0",
    scenarios: &[
        "sentinel/api-recovery",
        "sentinel/auth-latency",
        "sentinel/payment-cascade",
    ],
    endpoints: &[
        Endpoint::new("get", "/health", "Whether the server is well."),
        Endpoint::new("get", "/metadata", "What the environment is."),
        Endpoint::new("get", "/schema", "Schemas of actions, observations and states."),
        Endpoint::new("get", "/tasks", "The tasks."),
        Endpoint::new("get", "/validate", "Whether all tasks have graders."),
        Endpoint::new("get", "/grade/{task_id}", "The grade of the session's last episode of a task."),
        Endpoint::new("post", "/reset", "Begins an episode."),
        Endpoint::new("post", "/step", "Takes a step."),
        Endpoint::new("get", "/state", "The state of the episode."),
        Endpoint::new("post", "/mcp", "JSON-RPC; the environment has no tools."),
        Endpoint::new("get", "/mcp", "The same as a WebSocket."),
        Endpoint::new("get", "/ws", "A session as a WebSocket."),
    ],
    routes,
};

/// What a session holds.
#[derive(Debug, Default)]
struct Session {
    round: Option<Round>,
    /// Episodes that were begun without any wish: the next task is the next one.
    turn: usize,
    /// Grades of the last episode of each task.
    grades: [Option<Value>; tasks::TASKS.len()],
}

impl Session {
    /// Notes the grade of the present episode as that of its task.
    fn note(&mut self) {
        if let Some(round) = &self.round {
            self.grades[round::position(round.task)] = Some(round.grade());
        }
    }
}

type Sessions = Arc<Rooms<Session>>;

fn routes(stage: Arc<Stage>) -> Router {
    let rooms: Sessions = Rooms::new(stage);
    Router::new()
        .route("/health", get(http::health))
        .route("/metadata", get(http::metadata))
        .route("/schema", get(http::schema))
        .route("/tasks", get(http::tasks))
        .route("/validate", get(http::validate))
        .route("/grade/{task_id}", get(http::grade))
        .route("/reset", post(http::reset))
        .route("/step", post(http::step))
        .route("/state", get(http::state))
        .route("/mcp", post(http::mcp).get(socket::mcp))
        .route("/ws", get(socket::talk))
        .with_state(rooms)
}
