//! Pages for people: what this server is, and its routes. They load nothing from elsewhere.

use crate::environment::Catalogue;
use crate::settings::Settings;
use serde_json::Value;
use std::fmt::Write;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;\
padding:0 1rem;color:#1b1f24;background:#fff}code,pre{font:14px/1.45 ui-monospace,monospace;\
background:#f3f4f6;border-radius:4px}code{padding:.1em .3em}pre{padding:.8rem;overflow:auto}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;\
border-bottom:1px solid #d8dbe0;vertical-align:top}a{color:#0b57d0}\
@media(prefers-color-scheme:dark){body{color:#e6e8eb;background:#15181c}code,pre{background:#22272e}\
td,th{border-color:#363c45}a{color:#8ab4f8}}";

fn whole(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><title>{title}</title><style>{STYLE}</style>\
         </head><body>{body}</body></html>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The page at `/`.
pub(crate) fn front(catalogue: &Catalogue, settings: &Settings) -> String {
    let about = &catalogue.about;
    let mut body = format!(
        "<h1>{}</h1><p>{}</p><p>An <a href=\"https://github.com/huggingface/OpenEnv\">OpenEnv</a> \
         server: <a href=\"docs\">routes</a>, <a href=\"openapi.json\">OpenAPI</a>, \
         <a href=\"schema\">schemas</a>, <a href=\"metadata\">metadata</a>, \
         <a href=\"health\">health</a>.</p>",
        escaped(&about.name),
        escaped(&about.description)
    );
    let _ = write!(
        body,
        "<h2>An episode</h2><pre>from openenv import GenericEnvClient\n\n\
         with GenericEnvClient(base_url=\"http://HOST:PORT\").sync() as env:\n    \
         seen = env.reset(seed=7)\n    seen = env.step({{...}})</pre>\
         <p>{} tasks, up to {} sessions at once.</p><h2>Actions</h2><table>",
        catalogue.tasks.len(),
        settings.sessions_max
    );
    for tool in &catalogue.tools {
        let (name, does) = (escaped(&tool.name), escaped(&tool.description));
        let _ = write!(body, "<tr><td><code>{name}</code></td><td>{does}</td></tr>");
    }
    body.push_str("</table><h2>Tasks</h2><table><tr><th>split</th><th>seeds</th></tr>");
    for split in &catalogue.splits {
        let _ = write!(
            body,
            "<tr><td>{}</td><td>{} to {}</td></tr>",
            split.name, split.first, split.last
        );
    }
    body.push_str("</table>");
    whole(&about.name, &body)
}

/// The page at `/docs`.
pub(crate) fn docs(catalogue: &Catalogue, openapi: &Value) -> String {
    let mut body = format!(
        "<h1>{}: routes</h1><p>The same for programs: <a href=\"openapi.json\">openapi.json</a>. \
         Sockets: <code>/ws</code> (messages of OpenEnv) and <code>/mcp</code> (JSON-RPC).</p>",
        escaped(&catalogue.about.name)
    );
    for (path, methods) in openapi["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let summary = operation["summary"].as_str().unwrap_or_default();
            let (method, path) = (method.to_uppercase(), escaped(path));
            let _ =
                write!(body, "<h2><code>{method} {path}</code></h2><p>{}</p>", escaped(summary));
            for (title, schema) in [
                ("Request", &operation["requestBody"]["content"]),
                ("Answer", &operation["responses"]["200"]["content"]),
            ] {
                let name = schema["application/json"]["schema"]["$ref"].as_str();
                let name = name.and_then(|path| path.rsplit('/').next()).filter(|n| *n != "Any");
                if let Some(name) = name {
                    let _ = write!(body, "<p>{title}: <a href=\"#{name}\">{name}</a></p>");
                }
            }
        }
    }
    for (name, schema) in openapi["components"]["schemas"].as_object().into_iter().flatten() {
        let pretty = serde_json::to_string_pretty(schema).unwrap_or_default();
        let _ = write!(body, "<h2 id=\"{name}\">{name}</h2><pre>{}</pre>", escaped(&pretty));
    }
    whole(&format!("{} routes", catalogue.about.name), &body)
}
