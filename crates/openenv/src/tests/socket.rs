//! Messages of `/ws`.

use super::toy::Server;
use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

#[tokio::test]
async fn an_episode_is_played() {
    let server = Server::small(1).await;
    let mut socket = server.socket("/ws").await;
    let state = socket.state().await;
    assert_eq!((&state["episode_id"], &state["step_count"]), (&Value::Null, &json!(0)));
    let reset = json!({"type": "reset", "data": {"seed": 7, "episode_id": "e1", "hard": true}});
    let reset = socket.tell(reset).await;
    let ignored = json!({"ignored_options": ["hard"]});
    let data = json!({
        "observation": {"metadata": ignored, "value": 7}, "reward": null, "done": false,
        "metadata": ignored,
    });
    assert_eq!(reset, json!({"type": "observation", "data": data}));
    let step = socket.step("inc").await;
    let data = json!({"observation": {"metadata": {}, "value": 8}, "reward": 1.0, "done": false});
    assert_eq!(step, json!({"type": "observation", "data": data}));
    let state = socket.state().await;
    assert_eq!((&state["episode_id"], &state["step_count"]), (&json!("e1"), &json!(1)));
    assert_eq!((&state["seed"], &state["last"]), (&json!(7), &Value::Null));
    let last = socket.step("end").await["data"].take();
    let why = json!({"done_reason": "resolved", "terminated": true, "truncated": false});
    assert_eq!((&last["done"], &last["metadata"]), (&json!(true), &why));
    let after = socket.step("inc").await["data"].take();
    assert_eq!((&after["done"], &after["reward"]), (&json!(true), &json!(0.0)));
    assert_eq!(after["observation"]["value"], last["observation"]["value"]);
    let again = socket.tell(json!({"type": "reset"})).await;
    assert_eq!(again["data"]["done"], json!(false));
    let state = socket.state().await;
    assert!(state["seed"].is_null() && state["episode_id"].is_string(), "{state}");
    socket.send(r#"{"type":"close"}"#).await;
    assert_eq!(socket.closed().await, 1000);
    assert_eq!(server.desk.load().0, 0);
}

#[tokio::test]
async fn a_step_without_a_reset_begins_an_episode_and_says_so() {
    let server = Server::small(1).await;
    let mut socket = server.socket("/ws").await;
    let step = socket.step("inc").await;
    assert_eq!(step["data"]["metadata"], json!({"begun_without_reset": true}));
}

#[tokio::test]
async fn bad_messages_are_answered_and_the_socket_stays_open() {
    let server = Server::small(1).await;
    let mut socket = server.socket("/ws").await;
    socket.reset(1).await;
    for (message, code, says) in [
        ("{bad", "INVALID_JSON", "Invalid JSON: "),
        ("", "INVALID_JSON", "Invalid JSON: "),
        (r#"{"type":"frobnicate"}"#, "UNKNOWN_TYPE", "Unknown message type: frobnicate"),
        (r#"{"data":{}}"#, "UNKNOWN_TYPE", "Unknown message type: "),
        (r#"{"type":"step"}"#, "VALIDATION_ERROR", "Invalid message: data: Field required"),
        (r#"{"type":"step","data":null}"#, "VALIDATION_ERROR", "valid dictionary"),
        (r#"{"type":"state","data":{}}"#, "VALIDATION_ERROR", "data: Extra inputs"),
        (r#"{"type":"close","data":{}}"#, "VALIDATION_ERROR", "data: Extra inputs"),
        (r#"{"type":"reset","data":{},"request_id":"x"}"#, "VALIDATION_ERROR", "request_id"),
        (r#"{"type":"reset","data":{"seed":-5}}"#, "VALIDATION_ERROR", "seed: Input should be"),
        (r#"{"type":"step","data":{"op":"inc","color":1}}"#, "VALIDATION_ERROR", "color: Extra"),
        (r#"{"type":"step","data":{"op":"boom"}}"#, "EXECUTION_ERROR", "boom from"),
    ] {
        socket.send(message).await;
        let reply = socket.read().await;
        assert_eq!((&reply["type"], &reply["data"]["code"]), (&json!("error"), &json!(code)));
        let sentence = reply["data"]["message"].as_str().unwrap();
        assert!(sentence.contains(says), "{message}: {sentence}");
        assert_eq!(reply["data"]["errors"].is_array(), code == "VALIDATION_ERROR", "{reply}");
    }
    assert_eq!(socket.step("inc").await["data"]["observation"]["value"], json!(2));
}

#[tokio::test]
async fn what_is_no_message_closes_the_socket() {
    let server = Server::small(1).await;
    for message in
        [Message::text("[1,2]"), Message::text("null"), Message::text("5"), Message::binary("{}")]
    {
        let mut socket = server.socket("/ws").await;
        socket.0.send(message.clone()).await.unwrap();
        let reply = socket.read().await;
        assert_eq!(reply["data"]["code"], json!("SESSION_ERROR"), "{message}");
        assert_eq!(socket.closed().await, 1000);
    }
    assert_eq!(server.desk.load().0, 0);
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_order() {
    let server = Server::small(1).await;
    let mut socket = server.socket("/ws").await;
    socket.send(r#"{"type":"reset","data":{"seed":0}}"#).await;
    for _ in 0..200 {
        socket.send(r#"{"type":"step","data":{"op":"inc"}}"#).await;
    }
    for value in 0..=200 {
        assert_eq!(socket.read().await["data"]["observation"]["value"], json!(value));
    }
}

#[tokio::test]
async fn over_the_limit_the_first_answer_says_which_limit() {
    let server = Server::small(2).await;
    let (_a, b) = (server.socket("/ws").await, server.socket("/ws").await);
    super::toy::until("both are there", || server.desk.load().0 == 2).await;
    let mut third = server.socket("/ws").await;
    let reply = third.read().await["data"].take();
    assert_eq!(reply["code"], json!("CAPACITY_REACHED"));
    assert_eq!((&reply["active_sessions"], &reply["max_sessions"]), (&json!(2), &json!(2)));
    let sentence = reply["message"].as_str().unwrap();
    assert!(sentence.starts_with("Server at capacity: 2/2 sessions active."), "{sentence}");
    assert!(sentence.contains("--max"), "{sentence}");
    assert_eq!(third.closed().await, 1000);
    b.vanish();
    super::toy::until("its place is free", || server.desk.load().0 == 1).await;
    assert_eq!(server.socket("/ws").await.step("inc").await["type"], json!("observation"));
    let mut unknown = server.socket("/ws?session_id=nope").await;
    let reply = unknown.read().await["data"].take();
    assert_eq!(reply, json!({"code": "SESSION_ERROR", "message": "Unknown session_id: nope"}));
    assert_eq!(unknown.closed().await, 1000);
}

#[tokio::test]
async fn the_upgrade_names_the_session_and_takes_one_by_its_header() {
    let server = Server::small(1).await;
    let url = format!("ws://{}/ws", server.address);
    let (socket, response) = tokio_tungstenite::connect_async(&url).await.unwrap();
    let id = response.headers()["openenv-session-id"].clone();
    let mut socket = super::toy::Client(socket);
    assert_eq!(socket.state().await["session_id"], json!(id.to_str().unwrap()));
    socket.step("inc").await;
    socket.vanish();
    super::toy::until("its place is free", || server.desk.load().0 == 0).await;
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("openenv-session-id", id);
    let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let mut socket = super::toy::Client(socket);
    assert_eq!(socket.step("inc").await["data"]["observation"]["value"], json!(2));
}
