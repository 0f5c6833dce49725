//! The Model Context Protocol, as a client speaks it.

use super::toy::{Server, until};
use crate::Settings;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const PATH: &str = "/mcp/v1";

async fn post(
    server: &Server,
    session: Option<&str>,
    body: Value,
) -> (StatusCode, HeaderMap, Value) {
    let mut request = Request::post(PATH)
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    let (status, headers, text) =
        server.ask(request.body(Body::from(body.to_string())).unwrap()).await;
    // The answer is an event of a stream.
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let value = data.filter_map(|data| serde_json::from_str(data).ok()).next_back();
    (status, headers, value.unwrap_or(Value::String(text)))
}

async fn connect(server: &Server, version: &str) -> (String, Value) {
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let (status, headers, reply) = post(server, None, hello).await;
    assert_eq!(status, StatusCode::OK, "{reply}");
    let id = headers["mcp-session-id"].to_str().unwrap().to_string();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(server, Some(&id), ready).await.0, StatusCode::ACCEPTED);
    (id, reply)
}

async fn ask(server: &Server, session: &str, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params});
    let (status, _, reply) = post(server, Some(session), body).await;
    assert_eq!(status, StatusCode::OK, "{reply}");
    assert_eq!(reply["id"], json!(5));
    reply
}

#[tokio::test]
async fn versions_are_negotiated_and_every_action_is_a_typed_tool() {
    let server = Server::small(2).await;
    for (asked, given) in [("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18")] {
        let (_, reply) = connect(&server, asked).await;
        assert_eq!(reply["result"]["protocolVersion"], json!(given));
        assert_eq!(reply["result"]["serverInfo"]["name"], json!("toy"));
    }
    let (id, _) = connect(&server, "2025-06-18").await;
    assert_eq!(ask(&server, &id, "ping", json!({})).await["result"], json!({}));
    let listed = ask(&server, &id, "tools/list", json!({})).await["result"].take();
    assert!(listed["nextCursor"].is_null());
    let names: Vec<_> = listed["tools"].as_array().unwrap().iter().map(|t| &t["name"]).collect();
    assert_eq!(names, ["begin_episode", "inc", "hold", "end"]);
    let inc = &listed["tools"][1]["inputSchema"];
    assert_eq!(inc["properties"]["amount"]["type"], json!("integer"));
    assert!(inc["properties"]["session_id"].is_object());
}

#[tokio::test]
async fn a_connection_plays_an_episode_and_its_place_comes_free_with_it() {
    let server = Server::small(1).await;
    let (id, _) = connect(&server, "2025-06-18").await;
    let call = async |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        ask(&server, &id, "tools/call", params).await
    };
    let begun = call("begin_episode", json!({"seed": 7})).await["result"].take();
    let value = &begun["structuredContent"];
    assert_eq!(value["observation"]["value"], json!(7));
    let text = begun["content"][0]["text"].as_str().unwrap();
    assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), value);
    let stepped = call("inc", json!({"amount": 2})).await["result"].take();
    assert_eq!(stepped["structuredContent"]["observation"]["value"], json!(9));
    // The session is one of the table that all transports share.
    let session = value["session_id"].as_str().unwrap();
    let mut socket = server.socket(&format!("/ws?session_id={session}")).await;
    assert_eq!(socket.state().await["step_count"], json!(1));
    socket.send(r#"{"type":"close"}"#).await;
    assert_eq!(socket.closed().await, 1000);
    for (arguments, says) in [
        (json!({"x": 1}), "x: Extra inputs"),
        (json!({"session_id": "nope"}), "Unknown session_id: nope"),
    ] {
        let wrong = call("inc", arguments).await["result"].take();
        assert_eq!(wrong["isError"], json!(true));
        assert!(wrong["content"][0]["text"].as_str().unwrap().contains(says), "{wrong}");
    }
    assert_eq!(call("nope", json!({})).await["error"]["code"], json!(-32602));
    assert_eq!(server.desk.load().0, 1);
    let request = Request::delete(PATH).header("host", "localhost").header("mcp-session-id", &id);
    let (status, ..) = server.ask(request.body(Body::empty()).unwrap()).await;
    assert!(status.is_success(), "{status}");
    until("its place is free", || server.desk.load().0 == 0).await;
}

#[tokio::test]
async fn other_hosts_and_rubbish_are_refused() {
    let server = Server::small(1).await;
    let request = Request::post(PATH).header("host", "evil.example").body(Body::from("{}"));
    assert_eq!(server.ask(request.unwrap()).await.0, StatusCode::FORBIDDEN);
    for body in [json!({}), json!([]), json!(5), json!({"jsonrpc": "2.0", "id": 1, "method": "x"})]
    {
        let (status, _, reply) = post(&server, None, body.clone()).await;
        assert!(status.is_client_error(), "{body}: {status} {reply}");
    }
}

#[tokio::test]
async fn pings_are_answered_while_a_call_runs_and_a_cancelled_call_is_not() {
    let server = Arc::new(Server::small(1).await);
    let (id, _) = connect(&server, "2025-06-18").await;
    let begun = json!({"name": "begin_episode", "arguments": {"seed": 0}});
    ask(&server, &id, "tools/call", begun).await;
    let hold = json!({
        "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "hold"},
    });
    let (calling, own) = (server.clone(), id.clone());
    let call = tokio::spawn(async move { post(&calling, Some(&own), hold).await });
    until("it holds", || server.toy.held.load(Ordering::SeqCst) == 1).await;
    assert_eq!(ask(&server, &id, "ping", json!({})).await["result"], json!({}));
    let cancel = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77},
    });
    assert_eq!(post(&server, Some(&id), cancel).await.0, StatusCode::ACCEPTED);
    let (_, _, reply) = call.await.unwrap();
    assert!(reply["id"].is_null(), "a cancelled call is not answered: {reply}");
    // The step it was goes on and counts.
    assert_eq!(server.toy.held.load(Ordering::SeqCst), 1);
    server.toy.gate.add_permits(1);
    let next = json!({"name": "inc", "arguments": {}});
    let next = ask(&server, &id, "tools/call", next).await["result"].take();
    assert_eq!(next["structuredContent"]["observation"]["value"], json!(2));
}

#[tokio::test]
async fn versions_without_connections_name_the_session_in_every_call() {
    let server = Server::small(2).await;
    let call = async |name: &str, arguments: Value| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": name, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let request = Request::post(PATH)
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", name);
        let (status, _, text) =
            server.ask(request.body(Body::from(body.to_string())).unwrap()).await;
        assert_eq!(status, StatusCode::OK, "{text}");
        let mut data = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
        let value: Option<Value> = data.find_map(|data| serde_json::from_str(data).ok());
        value.unwrap_or_else(|| panic!("{text}"))["result"].take()
    };
    let unnamed = call("inc", json!({})).await;
    assert_eq!(unnamed["isError"], json!(true));
    assert!(unnamed["content"][0]["text"].as_str().unwrap().contains("begin_episode"));
    let begun = call("begin_episode", json!({"seed": 5})).await;
    let id = begun["structuredContent"]["session_id"].clone();
    for value in [6, 7] {
        let stepped = call("inc", json!({"session_id": id})).await;
        assert_eq!(stepped["structuredContent"]["observation"]["value"], json!(value));
    }
    assert_eq!(server.desk.load().0, 1);
}

#[tokio::test]
async fn a_quiet_connection_gives_its_place_to_others_and_goes_on_later() {
    let grace = Duration::from_millis(20);
    let settings = Settings { sessions_max: 1, grace, ..Settings::default() };
    let server = Server::start(settings).await;
    let (id, _) = connect(&server, "2025-06-18").await;
    let inc = || json!({"name": "inc", "arguments": {}});
    ask(&server, &id, "tools/call", inc()).await;
    until("its place is free", || server.desk.load().0 == 0).await;
    let mut other = server.socket("/ws").await;
    assert_eq!(other.step("inc").await["type"], json!("observation"));
    let full = ask(&server, &id, "tools/call", inc()).await["result"].take();
    assert!(full["content"][0]["text"].as_str().unwrap().contains("at capacity"), "{full}");
    other.send(r#"{"type":"close"}"#).await;
    assert_eq!(other.closed().await, 1000);
    let next = ask(&server, &id, "tools/call", inc()).await["result"].take();
    assert_eq!(next["structuredContent"]["observation"]["value"], json!(2));
}

#[tokio::test]
async fn a_connection_whose_session_was_closed_is_told_so() {
    let server = Server::small(1).await;
    let (id, _) = connect(&server, "2025-06-18").await;
    let call = async |name: &str| {
        let params = json!({"name": name, "arguments": {}});
        ask(&server, &id, "tools/call", params).await["result"].take()
    };
    let begun = call("begin_episode").await;
    let session = begun["structuredContent"]["session_id"].clone();
    server.rpc("openenv/session/close", json!({"session_id": session})).await;
    let told = call("inc").await;
    assert!(told["content"][0]["text"].as_str().unwrap().contains("call begin_episode"), "{told}");
    let begun = call("begin_episode").await;
    assert_ne!(begun["structuredContent"]["session_id"], session);
}

#[tokio::test]
async fn connections_that_never_call_have_a_limit() {
    let server = Server::small(2).await;
    for _ in 0..4 {
        connect(&server, "2025-06-18").await;
    }
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize"});
    let (status, _, reply) = post(&server, None, hello).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(reply.as_str().unwrap().contains("4 clients are connected already"), "{reply}");
}
