//! What every dialect serves besides its own routes: an OpenAPI document, pages for people, and
//! the answers to unknown paths and methods.

use super::reply;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Largest body of a request, bytes.
const BODY_MAX: usize = 1 << 20;

/// One route of a dialect, for its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The method, in lower case.
    pub method: &'static str,
    /// The path below the dialect's root.
    pub path: &'static str,
    /// What it does.
    pub doc: &'static str,
}

impl Endpoint {
    /// The route at `path`.
    pub const fn new(method: &'static str, path: &'static str, doc: &'static str) -> Endpoint {
        Endpoint { method, path, doc }
    }
}

/// The same routes with documents, fallbacks and a limit on bodies.
pub fn dressed(name: &str, version: &str, endpoints: &[Endpoint], routes: Router) -> Router {
    let openapi = document(name, version, endpoints);
    let page = page(name, endpoints);
    let docs = get(move || {
        let page = page.clone();
        async move {
            let kind = [(CONTENT_TYPE, "text/html; charset=utf-8")];
            (StatusCode::OK, kind, page).into_response()
        }
    });
    routes
        .route(
            "/openapi.json",
            get(move || {
                let openapi = openapi.clone();
                async move { reply::ok(&openapi) }
            }),
        )
        .route("/docs", docs.clone())
        .route("/redoc", docs)
        .fallback(reply::not_found)
        .method_not_allowed_fallback(reply::not_allowed)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(axum::middleware::map_response(plain_refusals))
}

/// What the framework itself refuses says so in JSON, as everything else does.
async fn plain_refusals(response: Response) -> Response {
    let status = response.status();
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        let sentence = format!("the body is larger than {BODY_MAX} bytes");
        return reply::detail(status, &sentence).into_response();
    }
    response
}

fn document(name: &str, version: &str, endpoints: &[Endpoint]) -> Value {
    let mut paths = Map::new();
    for endpoint in endpoints {
        let item = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        item[endpoint.method] = json!({
            "summary": endpoint.doc,
            "responses": {"200": {"description": "Successful Response"}},
        });
    }
    json!({"openapi": "3.1.0", "info": {"title": name, "version": version}, "paths": paths})
}

fn page(name: &str, endpoints: &[Endpoint]) -> String {
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name}</title>\
         </head><body><h1>{name}</h1><table>"
    );
    for Endpoint { method, path, doc } in endpoints {
        let method = method.to_uppercase();
        let row = format!("<tr><td><code>{method} {path}</code></td><td>{doc}</td></tr>");
        let _ = write!(page, "{row}");
    }
    page.push_str("</table><p><a href=\"openapi.json\">OpenAPI</a></p></body></html>");
    page
}
