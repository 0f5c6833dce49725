//! The dialect of the Production Incident Response Simulator: five services, structured actions,
//! three tasks. What an action does is up to the components; a step is credited where it met a
//! goal of its task, which is read from what they publish.

mod figures;
mod http;
mod round;
mod tasks;

use super::Dialect;
use crate::stage::{Endpoint, Rooms, Stage};
use axum::Router;
use axum::routing::{get, post};
use round::Round;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The dialect.
pub const DIALECT: Dialect = Dialect {
    name: "incident-sim",
    summary: "Production Incident Response Simulator: five services, structured actions",
    version: "2.0.0",
    scenarios: &[
        "incident-sim/auth-cascade",
        "incident-sim/payment-crash",
        "incident-sim/query-overload",
    ],
    endpoints: &[
        Endpoint::new("get", "/", "What the server is."),
        Endpoint::new("get", "/health", "Whether the server is well."),
        Endpoint::new("get", "/metadata", "What the environment is."),
        Endpoint::new("get", "/schema", "Actions, observations, states and rewards."),
        Endpoint::new("get", "/tasks", "The tasks."),
        Endpoint::new("post", "/reset", "Begins an episode."),
        Endpoint::new("post", "/step", "Takes a step."),
        Endpoint::new("get", "/state", "The observation as it stands."),
        Endpoint::new("get", "/metrics", "Counts of the session."),
        Endpoint::new("post", "/mcp", "JSON-RPC; the environment has no tools."),
    ],
    routes,
};

/// What a session holds.
#[derive(Debug)]
struct Session {
    round: Option<Round>,
    began: Instant,
    episodes: BTreeMap<&'static str, u64>,
    steps: u64,
    solved: u64,
}

impl Default for Session {
    fn default() -> Session {
        let (episodes, began) = (BTreeMap::new(), Instant::now());
        Session { round: None, began, episodes, steps: 0, solved: 0 }
    }
}

type Sessions = Arc<Rooms<Session>>;

fn routes(stage: Arc<Stage>) -> Router {
    let rooms: Sessions = Rooms::new(stage);
    Router::new()
        .route("/", get(http::front))
        .route("/health", get(http::health))
        .route("/metadata", get(http::metadata))
        .route("/schema", get(http::schema))
        .route("/tasks", get(http::tasks))
        .route("/reset", post(http::reset))
        .route("/step", post(http::step))
        .route("/state", get(http::state))
        .route("/metrics", get(http::metrics))
        .route("/mcp", post(http::mcp))
        .with_state(rooms)
}
