//! Tools: finding one, showing it, and the shapes in which OpenEnv answers their calls.

use crate::environment::{Catalogue, Refusal, Seen, Tool};
use crate::item::{Item, sentence};
use crate::play::Reply;
use crate::wire;
use serde_json::{Value, json};
use std::sync::Arc;

/// Names that OpenEnv keeps for itself.
pub(crate) const RESERVED: [&str; 4] = ["reset", "step", "state", "close"];
const NO_TOOL: &str = "tool_not_found";

/// The tool called `name`.
pub(crate) fn tool<'c>(catalogue: &'c Catalogue, name: &str) -> Result<&'c Tool, Refusal> {
    let mut tools = catalogue.tools.iter().filter(|tool| !RESERVED.contains(&&*tool.name));
    tools.find(|tool| tool.name == name).ok_or_else(|| {
        let shown: String = name.chars().take(100).collect();
        let msg = format!("Unknown tool: '{shown}'");
        Refusal::Invalid(vec![Item::new(NO_TOOL, &[], msg, name.into())])
    })
}

/// Whether it was refused because there is no such tool.
pub(crate) fn is_unknown(items: &[Item]) -> bool {
    items.iter().any(|item| item.kind == NO_TOOL)
}

/// As `list_tools` shows it.
pub(crate) fn short(tool: &Tool) -> Value {
    let Tool { name, description, arguments, .. } = tool;
    json!({"name": name, "description": description, "input_schema": arguments})
}

/// As `tools/list` of OpenEnv shows it.
pub(crate) fn long(tool: &Tool) -> Value {
    json!({
        "name": tool.name, "title": null, "description": tool.description,
        "inputSchema": tool.arguments, "outputSchema": null, "icons": null,
        "annotations": {"readOnlyHint": tool.reads}, "meta": null, "execution": null,
    })
}

/// The result of a call as OpenEnv writes it.
pub(crate) fn result(reply: &Reply) -> Value {
    let data = wire::value(reply);
    let text = data.to_string();
    json!({
        "content": [{"type": "text", "text": text, "annotations": null, "meta": null}],
        "structured_content": data, "meta": null, "data": data, "is_error": false,
    })
}

/// What is seen after a step that called a tool, and the step itself if it was taken.
pub(crate) fn called(
    name: &str,
    called: Result<Arc<Reply>, Refusal>,
) -> Result<(Seen, Option<Arc<Reply>>), Refusal> {
    let (result, error, turn) = match called {
        Ok(reply) => (result(&reply), Value::Null, Some(reply)),
        Err(Refusal::Invalid(items)) => {
            let kind = if is_unknown(&items) { NO_TOOL } else { "invalid_args" };
            let error = json!({"error_type": kind, "message": sentence(&items)});
            (Value::Null, error, None)
        }
        Err(Refusal::Failed(message) | Refusal::NotNow(message)) => {
            let error = json!({"error_type": "execution_error", "message": message});
            (Value::Null, error, None)
        }
    };
    let seen = Seen::new(&json!({"tool_name": name, "result": result, "error": error}));
    Ok((seen.map_err(Refusal::Failed)?, turn))
}
