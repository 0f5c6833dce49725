//! The Model Context Protocol by the official library: one typed tool per action, and one that
//! begins an episode.
//!
//! A connection has a session of its own from its first call on. Protocol versions without
//! connections name it in every call: `begin_episode` says which. A call that is cancelled is not
//! answered; the step it was goes on and counts, since half a step is none.

use crate::desk::Desk;
use crate::environment::{Fields, Refusal, Tool};
use crate::http;
use crate::item::sentence;
use crate::lookup;
use crate::options::{KNOWN, Options};
use crate::play::{Reply, Session};
use crate::rpc::STANDARD;
use crate::schema;
use crate::settings::MESSAGE_MAX;
use crate::table::{Denied, Owner};
use crate::wire;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerConfig, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Mutex;

const BEGIN: &str = "begin_episode";
const SESSION: &str = "session_id";

/// Connections there may be for every session: some clients connect and never call.
const CONNECTIONS: usize = 2;

/// The routes of one server.
pub(crate) fn routes(desk: &Arc<Desk>) -> Router<Arc<Desk>> {
    let mut connections = LocalSessionManager::default();
    connections.session_config.keep_alive = Some(desk.settings.idle);
    let connections = Arc::new(connections);
    let max = desk.settings.sessions_max.saturating_mul(CONNECTIONS);
    let manners = from_fn_with_state((connections.clone(), max), manners);
    Router::new().route_service(STANDARD, service(desk, connections)).layer(manners)
}

/// No more connections than there may be, which the library does not bound. It says 202 where one
/// is closed; the official clients know 200 and 204.
async fn manners(
    State((connections, max)): State<(Arc<LocalSessionManager>, usize)>,
    request: Request,
    next: Next,
) -> Response {
    let (method, headers) = (request.method(), request.headers());
    let closes = method == Method::DELETE;
    let connects = method == Method::POST && !headers.contains_key("mcp-session-id");
    if connects && connections.sessions.read().await.len() >= max {
        return http::busy(format!("{max} clients are connected already: try again later"));
    }
    let mut response = next.run(request).await;
    if closes && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

fn service(
    desk: &Arc<Desk>,
    connections: Arc<LocalSessionManager>,
) -> StreamableHttpService<Tools, LocalSessionManager> {
    let mut config = StreamableHttpServerConfig::default()
        .with_cancellation_token(desk.stop.child_token())
        .with_max_request_body_bytes(MESSAGE_MAX);
    config = match desk.settings.hosts.is_empty() {
        true => config.disable_allowed_hosts(),
        false => config.with_allowed_hosts(desk.settings.hosts.iter().cloned()),
    };
    let listed: Arc<[rmcp::model::Tool]> = listed(desk).into();
    let desk = desk.clone();
    let make = move || {
        let own = Arc::new(Own { desk: desk.clone(), session: Mutex::default() });
        Ok(Tools { desk: desk.clone(), listed: listed.clone(), own })
    };
    StreamableHttpService::new(make, connections, config)
}

/// The session of a connection; it is left when the connection ends.
#[derive(Debug)]
struct Own {
    desk: Arc<Desk>,
    session: Mutex<Option<Arc<Session>>>,
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(session) = self.session.get_mut().take() {
            self.desk.table.leave(&session);
        }
    }
}

/// One connection.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    desk: Arc<Desk>,
    listed: Arc<[rmcp::model::Tool]>,
    own: Arc<Own>,
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let about = &self.desk.environment.catalogue().about;
        let version = about.version.as_deref().unwrap_or("1");
        let instructions = format!(
            "{} Call {BEGIN} first. Every other call is one step of the episode. Where your client \
             keeps no connection, send the {SESSION} that {BEGIN} answers with every call.",
            about.description
        );
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(about.name.clone(), version))
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // All on one page: clients do not follow cursors.
        Ok(ListToolsResult::with_all_items(self.listed.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.listed.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&request.name).is_none() {
            let shown: String = request.name.chars().take(100).collect();
            return Err(ErrorData::invalid_params(format!("Unknown tool: {shown}"), None));
        }
        let version = context.protocol_version();
        let connected = version.is_none_or(|v| v.as_str() < ProtocolVersion::V_2026_07_28.as_str());
        let (tools, name) = (self.clone(), request.name.to_string());
        let arguments = request.arguments.unwrap_or_default();
        // A task of its own: a cancelled call does not leave a step half done.
        let work = async move { tools.call(&name, arguments, connected).await };
        let result = match self.desk.whole(work).await {
            Some(Ok((session, reply))) => told(&session, &reply),
            Some(Err(why)) => CallToolResult::error(vec![ContentBlock::text(why)]),
            None => return Err(ErrorData::internal_error("a defect of the server", None)),
        };
        Ok(result.into())
    }
}

impl Tools {
    async fn call(
        &self,
        name: &str,
        mut arguments: Fields,
        connected: bool,
    ) -> Result<(Arc<Session>, Arc<Reply>), String> {
        let wanted = match arguments.remove(SESSION) {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) => Some(id),
            Some(_) => return Err(format!("{SESSION}: Input should be a valid string")),
        };
        let session = self.session(name, wanted, connected).await?;
        session.touch(self.desk.table.now());
        let replied = match name {
            BEGIN => match Options::read(&arguments) {
                Ok(options) if options.ignored.is_empty() => session.reset(options).await,
                Ok(options) => {
                    let (unknown, known) = (options.ignored.join(", "), KNOWN.join(", "));
                    return Err(format!("unknown arguments {unknown}; expected {known}"));
                }
                Err(items) => Err(Refusal::Invalid(items)),
            },
            _ => session.call(name, arguments).await,
        };
        match replied {
            Ok(reply) => Ok((session, reply)),
            Err(Refusal::Invalid(items)) => Err(sentence(&items)),
            Err(Refusal::Failed(why) | Refusal::NotNow(why)) => Err(why),
        }
    }

    /// The session that a call means: the one it names, else that of its connection.
    async fn session(
        &self,
        name: &str,
        wanted: Option<String>,
        connected: bool,
    ) -> Result<Arc<Session>, String> {
        let table = &self.desk.table;
        let denied = |why: Denied| why.sentence();
        if let Some(id) = wanted {
            table.recall(&id, Owner::Client).await.map_err(denied)?;
            return table.take_up(&id).map_err(denied);
        }
        if !connected {
            return match name {
                BEGIN => table.open(Owner::Client).map_err(denied),
                _ => Err(format!("{SESSION} is missing: call {BEGIN} first, which answers it")),
            };
        }
        let mut own = self.own.session.lock().await;
        if let Some(id) = own.as_ref().and_then(|session| session.id.as_deref()) {
            match table.take_up(id) {
                Err(Denied::Unknown(_)) => *own = None,
                known => return known.map_err(denied),
            }
            if name != BEGIN {
                return Err(format!("the session was closed, idle for too long: call {BEGIN}"));
            }
        }
        let session = table.open(Owner::Tools).map_err(denied)?;
        *own = Some(session.clone());
        Ok(session)
    }
}

/// The result of a step: the same as text, for models, and as a value.
fn told(session: &Session, reply: &Reply) -> CallToolResult {
    let mut value = wire::value(reply);
    value[SESSION] = session.id.clone().into();
    let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    result.structured_content = Some(value);
    result
}

fn listed(desk: &Desk) -> Vec<rmcp::model::Tool> {
    let catalogue = desk.environment.catalogue();
    let output = Arc::new(output());
    let begin = Tool {
        name: BEGIN.into(),
        description:
            "Begins an episode and shows what is seen first. An episode that this session \
                      has already is given up."
                .into(),
        arguments: {
            let mut arguments = schema::reset(catalogue);
            arguments["additionalProperties"] = false.into();
            arguments
        },
        reads: false,
        name_field: "",
    };
    let usable = catalogue.tools.iter().filter(|t| !lookup::RESERVED.contains(&&*t.name));
    let each = std::iter::once(&begin).chain(usable).map(|tool| {
        let mut arguments = tool.arguments.as_object().cloned().unwrap_or_default();
        let session = json!({
            "type": "string",
            "description": "The session; default: that of the connection.",
        });
        let properties = arguments.entry("properties").or_insert_with(|| json!({}));
        properties[SESSION] = session;
        let mut made =
            rmcp::model::Tool::new(tool.name.clone(), tool.description.clone(), arguments);
        made.output_schema = Some(output.clone());
        made.annotations = Some(ToolAnnotations::new().read_only(tool.reads));
        made
    });
    each.collect()
}

fn output() -> Fields {
    let schema = json!({
        "type": "object",
        "required": ["observation", "reward", "done", SESSION],
        "properties": {
            "observation": {"type": "object"},
            "reward": {"type": ["number", "null"]},
            "done": {"type": "boolean"},
            SESSION: {"type": ["string", "null"]},
        },
    });
    schema.as_object().cloned().unwrap_or_default()
}
