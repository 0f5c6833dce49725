//! All routes of the agents' port.

use crate::desk::Desk;
use crate::http;
use crate::settings::MESSAGE_MAX;
use crate::socket::{Dialect, converse};
use crate::table::{Denied, Line, Owner};
use crate::tools;
use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use http::session_of;
use std::sync::Arc;

/// The library reads up to this much before it breaks a connection off by itself; up to here a
/// client that sends too much is told so in order.
const FRAME_MAX: usize = 2 * MESSAGE_MAX;
/// Bytes read at once, and kept per connection.
const READ_BUFFER: usize = 8 << 10;

/// The routes over this desk.
pub fn router(desk: Arc<Desk>) -> Router {
    let mut routes = Router::new()
        .route("/", get(http::front))
        .route("/health", get(http::health))
        .route("/metadata", get(http::metadata))
        .route("/schema", get(http::schema))
        .route("/openapi.json", get(http::openapi))
        .route("/docs", get(http::docs))
        .route("/redoc", get(http::docs))
        .route("/list_environments", get(http::tasks::environments))
        .route("/{env_name}/splits", get(http::tasks::splits))
        .route("/{env_name}/tasks", post(http::tasks::list))
        .route("/{env_name}/num_tasks", post(http::tasks::number))
        .route("/{env_name}/task", post(http::tasks::one))
        .route("/{env_name}/task_range", post(http::tasks::range))
        .route("/mcp", post(http::rpc).get(rpc_socket))
        .route("/ws", get(env_socket))
        .merge(tools::routes(&desk));
    if desk.settings.simulation {
        routes = routes
            .route("/reset", post(http::play::reset))
            .route("/step", post(http::play::step))
            .route("/state", get(http::play::state));
    }
    routes
        .fallback(http::not_found)
        .method_not_allowed_fallback(http::not_allowed)
        .layer(DefaultBodyLimit::max(MESSAGE_MAX))
        .with_state(desk)
}

type Parameters = Query<Vec<(String, String)>>;
type Upgrade = Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>;

async fn env_socket(
    State(desk): State<Arc<Desk>>,
    Query(parameters): Parameters,
    headers: axum::http::HeaderMap,
    upgrade: Upgrade,
) -> Response {
    let Ok(upgrade) = upgrade else { return http::no_such_page() };
    let asked = parameters.into_iter().find(|(name, _)| name == "session_id");
    let asked = asked.map(|(_, id)| id).filter(|id| !id.is_empty());
    let wanted = asked.or_else(|| session_of(&headers));
    let recalled = match &wanted {
        Some(id) => desk.table.recall(id, Owner::Socket).await,
        None => Ok(()),
    };
    let connected = recalled.and_then(|()| desk.table.connect(wanted.as_deref()));
    talk(desk, upgrade, Dialect::Env, connected)
}

async fn rpc_socket(State(desk): State<Arc<Desk>>, upgrade: Upgrade) -> Response {
    let Ok(upgrade) = upgrade else { return http::not_allowed().await };
    let connected = desk.table.connect(None);
    talk(desk, upgrade, Dialect::Rpc, connected)
}

/// The session is there before the socket, so that the upgrade can name it.
fn talk(
    desk: Arc<Desk>,
    upgrade: WebSocketUpgrade,
    dialect: Dialect,
    connected: Result<Line, Denied>,
) -> Response {
    let id = connected.as_ref().ok().and_then(|line| line.session.id.clone());
    let upgrade =
        upgrade.read_buffer_size(READ_BUFFER).max_message_size(FRAME_MAX).max_frame_size(FRAME_MAX);
    let mut response = upgrade.on_upgrade(move |socket| {
        let tasks = desk.tasks.clone();
        tasks.track_future(converse(desk, socket, dialect, connected))
    });
    if let Some(id) = id.and_then(|id| id.parse().ok()) {
        response.headers_mut().insert(http::SESSION, id);
    }
    response
}
