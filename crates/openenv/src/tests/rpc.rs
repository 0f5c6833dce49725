//! OpenEnv's `/mcp`: every answer is 200 and JSON-RPC.

use super::toy::Server;
use serde_json::{Value, json};

fn code(reply: &Value) -> i64 {
    reply["error"]["code"].as_i64().unwrap_or_else(|| panic!("{reply}"))
}

#[tokio::test]
async fn rubbish_is_answered_as_the_protocol_says() {
    let server = Server::small(1).await;
    for (body, expected) in [
        ("", -32700),
        ("{bad", -32700),
        ("[]", -32700),
        ("5", -32700),
        ("{}", -32600),
        (r#"{"jsonrpc":"2.0","method":"tools/list","params":null}"#, -32600),
        (r#"{"jsonrpc":"2.0","method":"tools/list","params":[]}"#, -32600),
        (r#"{"jsonrpc":"1.0","method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","method":"tools/list","id":1.5}"#, -32600),
        (r#"{"jsonrpc":"2.0","method":"tools/list","more":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","method":"initialize","id":1}"#, -32601),
        (r#"{"jsonrpc":"2.0","method":"tools/call","id":1}"#, -32602),
        (r#"{"jsonrpc":"2.0","method":"openenv/session/close","id":1}"#, -32602),
    ] {
        let (status, _, reply) = server.post("/mcp", None, body).await;
        assert_eq!((status.as_u16(), &reply["jsonrpc"]), (200, &json!("2.0")), "{body}");
        assert_eq!(code(&reply), expected, "{body}: {reply}");
        assert!(reply["error"].as_object().unwrap().contains_key("data"));
    }
    let unknown = server.rpc("tools/call", json!({"name": "nope"})).await;
    let error = json!({"code": -32603, "message": "Unknown tool: 'nope'", "data": null});
    assert_eq!(unknown["error"], error);
    let wrong = server.rpc("tools/call", json!({"name": "inc", "arguments": {"x": 1}})).await;
    assert_eq!(code(&wrong), -32603);
    let reserved = server.rpc("tools/call", json!({"name": "reset"})).await;
    assert_eq!(code(&reserved), -32603, "a name that OpenEnv keeps for itself");
    let lost = server.rpc("tools/list", json!({"session_id": "nope"})).await;
    assert_eq!(lost["error"]["message"], json!("Unknown session_id: nope"));
}

#[tokio::test]
async fn a_session_is_the_same_over_http_and_a_socket() {
    let server = Server::small(1).await;
    let created = server.rpc("openenv/session/create", json!({})).await;
    let id = created["result"]["session_id"].clone();
    let full = server.rpc("openenv/session/create", json!({})).await;
    assert_eq!((code(&full), &full["error"]["data"]["max_sessions"]), (-32000, &json!(1)));
    let mut socket = server.socket(&format!("/ws?session_id={}", id.as_str().unwrap())).await;
    assert_eq!(socket.reset(5).await["data"]["observation"]["value"], json!(5));
    let params = json!({"name": "inc", "arguments": {"amount": 3}, "session_id": id});
    let called = server.rpc("tools/call", params).await["result"].take();
    assert_eq!(called["data"]["observation"]["value"], json!(8));
    assert_eq!(
        (&called["is_error"], &called["data"]),
        (&json!(false), &called["structured_content"])
    );
    let state = socket.state().await;
    assert_eq!((&state["step_count"], &state["session_id"]), (&json!(1), &id));
    let listed = server.rpc("tools/list", json!({"session_id": id})).await;
    assert_eq!(listed["result"]["tools"][0]["name"], json!("inc"));
    // Another socket is refused while this one lives.
    let mut second = server.socket(&format!("/ws?session_id={}", id.as_str().unwrap())).await;
    let refused = second.read().await;
    assert!(refused["data"]["message"].as_str().unwrap().contains("already has an attached"));
    assert_eq!(second.closed().await, 1000);
    // A socket that closes leaves the session; a close that was asked for meanwhile ends it.
    socket.send(r#"{"type":"close"}"#).await;
    assert_eq!(socket.closed().await, 1000);
    assert_eq!(server.desk.load().0, 1);
    let mut socket = server.socket(&format!("/ws?session_id={}", id.as_str().unwrap())).await;
    assert_eq!(socket.state().await["step_count"], json!(1));
    let closing = server.rpc("openenv/session/close", json!({"session_id": id})).await;
    assert_eq!(closing["result"], json!({"session_id": id, "closed": false, "closing": true}));
    socket.send(r#"{"type":"close"}"#).await;
    assert_eq!(socket.closed().await, 1000);
    let gone = server.rpc("openenv/session/close", json!({"session_id": id})).await;
    assert_eq!(code(&gone), -32602);
    assert_eq!(server.desk.load().0, 0);
}

#[tokio::test]
async fn a_socket_of_json_rpc_has_a_session_of_its_own() {
    let server = Server::small(1).await;
    let mut socket = server.socket("/mcp").await;
    let call = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params});
    for value in 1..4 {
        let reply = socket.tell(call("tools/call", json!({"name": "inc"}))).await;
        assert_eq!(
            (&reply["id"], &reply["result"]["data"]["observation"]["value"]),
            (&json!("a"), &json!(value))
        );
    }
    let id =
        socket.tell(call("openenv/session/create", json!({}))).await["result"]["session_id"].take();
    let own = socket.tell(call("openenv/session/close", json!({"session_id": id}))).await;
    assert_eq!(code(&own), -32600);
    socket.send("{bad").await;
    assert_eq!(code(&socket.read().await), -32700);
    let mut second = server.socket("/mcp").await;
    assert_eq!(code(&second.read().await), -32000);
    assert_eq!(second.closed().await, 1000);
    socket.send("[]").await;
    assert_eq!(code(&socket.read().await), -32000);
    assert_eq!(socket.closed().await, 1000);
    assert_eq!(server.desk.load().0, 0);
}

#[tokio::test]
async fn tools_can_be_called_by_steps_and_by_messages() {
    let server = Server::small(1).await;
    let mut socket = server.socket("/ws").await;
    socket.reset(0).await;
    let step = |data: Value| json!({"type": "step", "data": data});
    let listed = socket.tell(step(json!({"type": "list_tools"}))).await["data"].take();
    assert_eq!(listed["observation"]["tools"][0]["name"], json!("inc"));
    assert_eq!((&listed["reward"], &listed["done"]), (&json!(0.0), &json!(false)));
    for kind in [json!({"type": "call_tool"}), json!({})] {
        let mut call = json!({"tool_name": "inc", "arguments": {"amount": 2}});
        call.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
        let called = socket.tell(step(call)).await["data"].take();
        assert_eq!(
            (&called["observation"]["error"], &called["reward"]),
            (&Value::Null, &json!(2.0))
        );
        assert!(called["observation"]["result"]["data"]["observation"]["value"].is_i64());
    }
    for (name, arguments, kind) in
        [("nope", json!({}), "tool_not_found"), ("inc", json!({"x": 1}), "invalid_args")]
    {
        let call = step(json!({"tool_name": name, "arguments": arguments}));
        let failed = socket.tell(call).await["data"]["observation"].take();
        assert_eq!(
            (&failed["error"]["error_type"], &failed["result"]),
            (&json!(kind), &Value::Null)
        );
    }
    assert_eq!(socket.state().await["step_count"], json!(5));
    let data =
        json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "inc"}});
    let reply = socket.tell(json!({"type": "mcp", "data": data})).await;
    assert_eq!((&reply["type"], &reply["data"]["id"]), (&json!("mcp"), &json!(9)));
    assert_eq!(reply["data"]["result"]["data"]["observation"]["value"], json!(5));
}
