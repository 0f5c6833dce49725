//! `/openapi.json`: one list of routes, from which the document and the page are made.

use crate::environment::Catalogue;
use crate::schema;
use serde_json::{Map, Value, json};

/// A route of the document.
struct Route {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    tag: &'static str,
    /// Name of the schema of the body.
    body: Option<&'static str>,
    /// Name of the schema of the answer.
    answer: &'static str,
    /// Only where episodes are played over HTTP.
    simulation: bool,
}

const fn get(
    path: &'static str,
    tag: &'static str,
    summary: &'static str,
    answer: &'static str,
) -> Route {
    Route { method: "get", path, summary, tag, body: None, answer, simulation: false }
}

const fn post(
    path: &'static str,
    tag: &'static str,
    summary: &'static str,
    body: &'static str,
    answer: &'static str,
) -> Route {
    Route { method: "post", path, summary, tag, body: Some(body), answer, simulation: false }
}

const INFO: &str = "Environment Info";
const PLAY: &str = "Environment Control";
const TASKS: &str = "Task API";
const TOOLS: &str = "Tools";

const ROUTES: &[Route] = &[
    get("/health", INFO, "Whether the server is up", "Health"),
    get("/metadata", INFO, "What is played", "Metadata"),
    get("/schema", INFO, "JSON Schemas of action, observation and state", "Any"),
    Route { simulation: true, ..post("/reset", PLAY, "Begins an episode", "ResetRequest", "Step") },
    Route { simulation: true, ..post("/step", PLAY, "Takes a step", "StepRequest", "Step") },
    Route { simulation: true, ..get("/state", PLAY, "What is known of the session", "State") },
    get("/list_environments", TASKS, "Names of the environments", "Any"),
    get("/{env_name}/splits", TASKS, "Parts of the tasks, with their seeds", "Any"),
    post("/{env_name}/tasks", TASKS, "All tasks of a split", "SplitRequest", "Any"),
    post("/{env_name}/num_tasks", TASKS, "Their number", "SplitRequest", "Any"),
    post("/{env_name}/task", TASKS, "One of them", "TaskRequest", "Any"),
    post("/{env_name}/task_range", TASKS, "Some of them", "TaskRangeRequest", "Any"),
    post("/mcp", TOOLS, "JSON-RPC of OpenEnv: tools and sessions", "JsonRpc", "Any"),
    post("/mcp/v1", TOOLS, "The Model Context Protocol, Streamable HTTP", "JsonRpc", "Any"),
];

/// The document.
pub(crate) fn document(catalogue: &Catalogue, schemas: &Value, simulation: bool) -> Value {
    let mut paths = Map::new();
    for route in ROUTES.iter().filter(|route| simulation || !route.simulation) {
        let operation = operation(route);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": catalogue.about.name,
            "version": "1.0.0",
            "description": format!(
                "{} Episodes are played over the WebSocket `/ws`, or over `/reset` and `/step` by \
                 sending back the header `openenv-session-id` of the answer to `/reset`.",
                catalogue.about.description
            ),
        },
        "paths": paths,
        "components": {"schemas": components(catalogue, schemas)},
    })
}

fn operation(route: &Route) -> Value {
    let refer = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let content = |name: &str| json!({"application/json": {"schema": refer(name)}});
    let answer = json!({"description": "Successful Response", "content": content(route.answer)});
    let mut operation = json!({
        "tags": [route.tag],
        "summary": route.summary,
        "operationId": format!("{}_{}", route.method, route.path.trim_matches('/')
            .replace(['/', '{', '}'], "_")),
        "responses": {"200": answer},
    });
    if let Some(body) = route.body {
        let required = body != "ResetRequest";
        operation["requestBody"] = json!({"required": required, "content": content(body)});
        operation["responses"]["422"] =
            json!({"description": "Validation Error", "content": content("ValidationError")});
    }
    if route.path.contains("{env_name}") {
        operation["parameters"] = json!([{
            "name": "env_name", "in": "path", "required": true, "schema": {"type": "string"},
        }]);
    }
    operation
}

fn components(catalogue: &Catalogue, schemas: &Value) -> Value {
    let text = json!({"type": "string"});
    let maybe = json!({"type": ["string", "null"]});
    let whole = json!({"type": ["integer", "null"]});
    let item = json!({
        "type": "object", "required": ["type", "loc", "msg"],
        "properties": {"type": text, "loc": {"type": "array"}, "msg": text, "input": {}},
    });
    json!({
        "Any": {},
        "Action": schemas["action"],
        "Observation": schemas["observation"],
        "State": schemas["state"],
        "ResetRequest": schema::reset(catalogue),
        "StepRequest": {
            "type": "object", "required": ["action"], "additionalProperties": true,
            "properties": {
                "action": {"$ref": "#/components/schemas/Action"},
                "timeout_s": {"type": ["number", "null"], "exclusiveMinimum": 0},
                "request_id": {"type": ["string", "null"], "maxLength": 255},
            },
        },
        "Step": {
            "type": "object", "required": ["observation", "reward", "done", "metadata"],
            "properties": {
                "observation": {"type": "object"}, "reward": {"type": ["number", "null"]},
                "done": {"type": "boolean"}, "metadata": {"type": ["object", "null"]},
            },
        },
        "Health": {
            "type": "object", "required": ["status"],
            "properties": {"status": {"enum": ["healthy", "unhealthy", "degraded"]}},
        },
        "Metadata": {
            "type": "object", "required": ["name", "description"],
            "properties": {
                "name": text, "description": text, "readme_content": maybe, "version": maybe,
                "author": maybe, "documentation_url": maybe,
            },
        },
        "SplitRequest": {
            "type": "object", "required": ["split"], "properties": {"split": text},
        },
        "TaskRequest": {
            "type": "object", "required": ["split", "index"],
            "properties": {"split": text, "index": {"type": "integer"}},
        },
        "TaskRangeRequest": {
            "type": "object", "required": ["split"],
            "properties": {"split": text, "start": whole, "stop": whole},
        },
        "JsonRpc": {
            "type": "object", "required": ["jsonrpc", "method"],
            "properties": {
                "jsonrpc": {"const": "2.0"}, "method": text, "params": {"type": "object"},
                "id": {"type": ["string", "integer", "null"]},
            },
        },
        "ValidationError": {
            "type": "object", "properties": {"detail": {"type": "array", "items": item}},
        },
    })
}
