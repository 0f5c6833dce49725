//! Episodes over HTTP: each call for itself, or a whole episode by sending the session back.

use super::toy::{Server, until};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};

fn inc(amount: i64) -> String {
    json!({"action": {"op": "inc", "amount": amount}}).to_string()
}

#[tokio::test]
async fn without_a_session_every_call_stands_for_itself() {
    let server = Server::small(1).await;
    let (status, _, reset) = server.post("/reset", None, "").await;
    assert_eq!(status, StatusCode::OK);
    let expected = json!({
        "observation": {"metadata": {}, "value": 0}, "reward": null, "done": false,
        "metadata": null,
    });
    assert_eq!(reset, expected);
    for _ in 0..3 {
        let (status, _, step) = server.post("/step", None, inc(2)).await;
        assert_eq!((status, &step["reward"]), (StatusCode::OK, &json!(2.0)));
        assert_eq!(step["observation"]["value"], json!(2));
    }
    let (_, state) = server.get("/state").await;
    assert_eq!((&state["episode_id"], &state["step_count"]), (&Value::Null, &json!(0)));
    until("what was for one call is forgotten", || server.toy.live() == 1).await;
}

#[tokio::test]
async fn a_client_that_sends_its_session_back_plays_an_episode() {
    let server = Server::small(1).await;
    let body = r#"{"seed": "7", "episode_id": "mine", "task": "two", "prompt": "x"}"#;
    let (_, headers, reset) = server.post("/reset", None, body).await;
    assert_eq!(reset["observation"]["value"], json!(7));
    assert_eq!(reset["metadata"], json!({"ignored_options": ["prompt"]}));
    assert_eq!(reset["observation"]["metadata"], reset["metadata"]);
    let id = headers["openenv-session-id"].to_str().unwrap();
    let (_, _, step) = server.post("/step", Some(id), inc(1)).await;
    assert_eq!(step["observation"]["value"], json!(8));
    // By the cookie, as a browser or a session of `requests` does.
    let cookie = headers["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let request = Request::post("/step").header("cookie", format!("a=b; {cookie}"));
    let request = request.header("content-type", "application/json").body(inc(2).into()).unwrap();
    let (_, _, step) = server.ask(request).await;
    assert!(step.contains("\"value\":10"), "{step}");
    let request = Request::get("/state").header("openenv-session-id", id);
    let (_, _, state) = server.ask(request.body(Body::empty()).unwrap()).await;
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!((&state["episode_id"], &state["step_count"]), (&json!("mine"), &json!(2)));
    assert_eq!((&state["seed"], &state["task"]), (&json!(7), &json!("two")));
    assert_eq!(server.desk.load(), (1, 1));
    let end = json!({"action": {"op": "limit"}}).to_string();
    let (_, _, last) = server.post("/step", Some(id), end).await;
    assert_eq!(last["done"], json!(true));
    let why = json!({"done_reason": "horizon", "terminated": false, "truncated": true});
    assert_eq!(last["metadata"], why);
    // An episode that is over takes no place, and stands still.
    assert_eq!(server.desk.load(), (0, 1));
    let (_, _, after) = server.post("/step", Some(id), inc(5)).await;
    assert_eq!((&after["done"], &after["reward"]), (&json!(true), &json!(0.0)));
    assert_eq!(after["observation"]["value"], last["observation"]["value"]);
    assert_eq!(after["metadata"]["after_done"], json!(true));
    let (status, _, reply) = server.post("/step", Some("nope"), inc(1)).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(reply, json!({"detail": "Unknown session_id: nope"}));
    let request = Request::post("/reset").header("cookie", "openenv_session=old");
    assert_eq!(server.ask(request.body(Body::empty()).unwrap()).await.0, StatusCode::OK);
}

#[tokio::test]
async fn sessions_that_nobody_comes_back_to_do_not_pile_up() {
    let server = Server::small(4).await;
    for _ in 0..50 {
        let (status, ..) = server.post("/reset", None, "{}").await;
        assert_eq!(status, StatusCode::OK);
    }
    until("the first ones are forgotten", || server.toy.live() <= 4).await;
    assert_eq!(server.desk.load(), (0, 4));
}

#[tokio::test]
async fn what_is_wrong_is_said_item_by_item() {
    let server = Server::small(1).await;
    for (path, body, kind, loc) in [
        ("/reset", "[1]", "model_attributes_type", json!(["body"])),
        ("/reset", "null", "model_attributes_type", json!(["body"])),
        ("/reset", r#"{"seed": -1}"#, "greater_than_equal", json!(["body", "seed"])),
        ("/reset", r#"{"sead": 1}"#, "extra_forbidden", json!(["body", "sead"])),
        ("/reset", r#"{"task": "x"}"#, "literal_error", json!(["task"])),
        ("/reset", "{bad", "json_invalid", json!(["body", 1])),
        ("/reset", "{\"a\":\n \u{fc}", "json_invalid", json!(["body", 7])),
        ("/step", "{}", "missing", json!(["body", "action"])),
        ("/step", "", "missing", json!(["body"])),
        ("/step", r#"{"op": "inc"}"#, "missing", json!(["body", "action"])),
        ("/step", r#"{"action": 5}"#, "dict_type", json!(["body", "action"])),
        ("/step", r#"{"action": {"color": 5}}"#, "extra_forbidden", json!(["color"])),
        (
            "/step",
            r#"{"action": {"op": "inc", "metadata": null}}"#,
            "dict_type",
            json!(["metadata"]),
        ),
        (
            "/step",
            r#"{"action": {}, "timeout_s": 0}"#,
            "greater_than",
            json!(["body", "timeout_s"]),
        ),
        (
            "/step",
            r#"{"action": {}, "request_id": 5}"#,
            "string_type",
            json!(["body", "request_id"]),
        ),
    ] {
        let (status, _, reply) = server.post(path, None, body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{path} {body}: {reply}");
        let item = &reply["detail"][0];
        assert_eq!((&item["type"], &item["loc"]), (&json!(kind), &loc), "{path} {body}: {reply}");
        assert!(!item["msg"].as_str().unwrap().is_empty());
    }
    let request = Request::post("/step").header("content-type", "text/plain");
    let (status, _, reply) = server.ask(request.body(inc(1).into()).unwrap()).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{reply}");
    let lax = r#"{"action": {"op": "inc", "metadata": {"a": 1}}, "timeout_s": "5", "more": []}"#;
    assert_eq!(server.post("/step", None, lax).await.0, StatusCode::OK);
    let boom = r#"{"action": {"op": "boom"}}"#;
    let (status, _, reply) = server.post("/step", None, boom).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(reply, json!({"detail": "boom from the environment"}));
}
