//! Clients and servers that go away, are slow, or send too much.

use super::toy::{DEADLINE, Server, Toy, until};
use crate::Settings;
use crate::options::Options;
use crate::table::{Owner, Table};
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn pings_are_answered_while_a_step_runs() {
    let server = Server::small(1).await;
    let mut socket = server.socket("/ws").await;
    socket.reset(0).await;
    socket.send(r#"{"type":"step","data":{"op":"hold"}}"#).await;
    until("it holds", || server.toy.held.load(Ordering::SeqCst) == 1).await;
    socket.0.send(Message::Ping("here".into())).await.unwrap();
    assert_eq!(socket.next().await, Message::Pong("here".into()));
    server.toy.gate.add_permits(1);
    assert_eq!(socket.read().await["data"]["observation"]["value"], json!(1));
}

#[tokio::test]
async fn a_client_that_vanishes_in_a_step_frees_its_place_at_once_and_can_come_back() {
    let server = Server::small(1).await;
    let mut socket = server.socket("/ws").await;
    socket.reset(0).await;
    let id = socket.state().await["session_id"].as_str().unwrap().to_string();
    socket.send(r#"{"type":"step","data":{"op":"hold"}}"#).await;
    until("it holds", || server.toy.held.load(Ordering::SeqCst) == 1).await;
    socket.vanish();
    until("its place is free", || server.desk.load().0 == 0).await;
    assert_eq!(server.toy.held.load(Ordering::SeqCst), 1, "the step still runs");
    // Somebody else has the place now.
    let mut other = server.socket("/ws").await;
    assert_eq!(other.step("inc").await["type"], json!("observation"));
    let mut back = server.socket(&format!("/ws?session_id={id}")).await;
    assert_eq!(back.read().await["data"]["code"], json!("CAPACITY_REACHED"));
    other.send(r#"{"type":"close"}"#).await;
    assert_eq!(other.closed().await, 1000);
    let mut back = server.socket(&format!("/ws?session_id={id}")).await;
    server.toy.gate.add_permits(1);
    let state = back.state().await;
    assert_eq!((&state["step_count"], &state["session_id"]), (&json!(1), &json!(id)));
    // The answer that was lost.
    assert_eq!(state["last"]["observation"], json!({"metadata": {}, "value": 1}));
    assert_eq!(back.step("inc").await["data"]["observation"]["value"], json!(2));
    assert!(back.state().await["last"].is_null());
    back.send(r#"{"type":"close"}"#).await;
    assert_eq!(back.closed().await, 1000);
    until("all is forgotten", || server.toy.live() == 0).await;
}

#[tokio::test]
async fn what_nobody_comes_back_to_is_forgotten() {
    let moment = Duration::from_millis(1);
    let server = Server::start(Settings { grace: moment, ..Settings::default() }).await;
    let mut socket = server.socket("/ws").await;
    socket.reset(0).await;
    socket.vanish();
    until("the grace is over", || server.toy.live() == 0).await;
    let server =
        Server::start(Settings { idle: Duration::from_millis(300), ..Settings::default() });
    let server = server.await;
    let created = server.rpc("openenv/session/create", json!({})).await;
    assert!(created["result"]["session_id"].is_string());
    let mut socket = server.socket("/ws").await;
    socket.reset(0).await;
    let told = socket.read().await["data"].take();
    assert_eq!(told["code"], json!("SESSION_ERROR"));
    assert!(told["message"].as_str().unwrap().contains("idle"), "{told}");
    assert_eq!(socket.closed().await, 1000);
    until("all is forgotten", || server.toy.live() == 0 && server.desk.load().0 == 0).await;
}

#[tokio::test]
async fn a_session_whose_step_runs_is_not_idle() {
    let toy = Toy::new();
    let settings = Settings { idle: Duration::ZERO, ..Settings::default() };
    let table = Table::new(toy.clone(), &settings);
    let session = table.open(Owner::Tools).unwrap();
    session.reset(Options::default()).await.unwrap();
    let action = json!({"op": "hold"}).as_object().unwrap().clone();
    let own = session.clone();
    let running = tokio::spawn(async move { own.step(action).await });
    until("it holds", || toy.held.load(Ordering::SeqCst) == 1).await;
    let begun = table.now();
    until("time passes", || table.now() > begun + 2).await;
    table.sweep();
    assert_eq!(table.load().0, 1, "somebody waits for the answer");
    toy.gate.add_permits(1);
    assert!(running.await.unwrap().is_ok());
    until("nobody uses it any more", || {
        table.sweep();
        table.load().0 == 0
    })
    .await;
}

#[tokio::test]
async fn a_late_answer_never_comes() {
    let answer = Duration::from_millis(20);
    let server = Server::start(Settings { answer, ..Settings::default() }).await;
    let mut socket = server.socket("/ws").await;
    socket.reset(0).await;
    let late = socket.step("hold").await["data"].take();
    assert_eq!(late["code"], json!("EXECUTION_ERROR"));
    assert!(late["message"].as_str().unwrap().contains("goes on and counts"), "{late}");
    server.toy.gate.add_permits(1);
    until("it ends", || server.toy.held.load(Ordering::SeqCst) == 0).await;
    assert_eq!(socket.step("inc").await["data"]["observation"]["value"], json!(2));
}

#[tokio::test]
async fn when_the_server_stops_the_running_step_is_answered_and_sockets_close_with_1012() {
    let server = Server::small(2).await;
    let (mut calm, mut busy) = (server.socket("/ws").await, server.socket("/ws").await);
    calm.reset(0).await;
    busy.reset(0).await;
    busy.send(r#"{"type":"step","data":{"op":"hold"}}"#).await;
    until("it holds", || server.toy.held.load(Ordering::SeqCst) == 1).await;
    let desk = server.desk.clone();
    let draining = tokio::spawn(async move { desk.drain().await });
    assert_eq!(calm.closed().await, 1012);
    server.toy.gate.add_permits(1);
    assert_eq!(busy.read().await["data"]["observation"]["value"], json!(1));
    assert_eq!(busy.closed().await, 1012);
    drop((calm, busy));
    tokio::time::timeout(DEADLINE, draining).await.unwrap().unwrap();
    until("all is forgotten", || server.toy.live() == 0).await;
}

#[tokio::test]
async fn frames_up_to_16_mib_are_taken_and_longer_ones_close_with_1009() {
    let server = Server::small(1).await;
    let mut socket = server.socket("/ws").await;
    socket.reset(0).await;
    let message = |mib: usize| {
        let fill = "x".repeat((mib << 20) - 100);
        json!({"type": "step", "data": {"op": "inc", "metadata": {"fill": fill}}}).to_string()
    };
    socket.send(message(15)).await;
    assert_eq!(socket.read().await["data"]["observation"]["value"], json!(1));
    socket.send(message(17)).await;
    assert_eq!(socket.closed().await, 1009);
    drop(socket);
    until("its place is free", || server.desk.load().0 == 0).await;
    // Far too long: the connection breaks, and nobody else notices.
    let mut socket = server.socket("/ws").await;
    let _ = socket.0.send(Message::text(message(40))).await;
    while let Ok(Some(Ok(_))) = tokio::time::timeout(DEADLINE, socket.0.next()).await {}
    until("its place is free", || server.desk.load().0 == 0).await;
}

#[tokio::test]
async fn a_client_that_floods_and_never_reads_is_dropped_and_harms_nobody() {
    let write = Duration::from_millis(200);
    let server = Server::start(Settings { write, ..Settings::default() }).await;
    let mut flood = server.socket("/ws").await;
    flood.reset(0).await;
    // Each answer names what is wrong at length.
    let wrong = json!({"type": "step", "data": {"x": "y".repeat(100_000), "op": 1}}).to_string();
    let flooding =
        tokio::spawn(
            async move { while flood.0.send(Message::text(wrong.clone())).await.is_ok() {} },
        );
    let mut other = server.socket("/ws").await;
    for value in 1..50 {
        assert_eq!(other.step("inc").await["data"]["observation"]["value"], json!(value));
    }
    tokio::time::timeout(DEADLINE, flooding).await.expect("it is dropped").unwrap();
    until("its place is free", || server.desk.load().0 == 1).await;
}

#[tokio::test]
async fn half_a_frame_and_a_broken_frame_harm_nobody() {
    let server = Server::small(2).await;
    let mut other = server.socket("/ws").await;
    for bytes in [&b"\x81\xfe"[..], b"\x81\x90abcd{", b"\xff\xff\xff\xff", b"\x81\x05hello"] {
        let socket = server.socket("/ws").await;
        until("it is there", || server.desk.load().0 == 2).await;
        let mut raw = socket.0.into_inner();
        raw.write_all(bytes).await.unwrap();
        raw.flush().await.unwrap();
        assert_eq!(other.step("inc").await["type"], json!("observation"));
        drop(raw);
        until("its place is free", || server.desk.load().0 == 1).await;
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_frame_is_told_by_the_close_code_and_the_session_can_be_gone_on_with()
{
    let server = Server::small(1).await;
    for (bytes, code) in [
        // Masked by zeros: a text of two bytes that are no UTF-8, and an opcode that is reserved.
        (&b"\x81\x82\0\0\0\0\xc3\x28"[..], 1007),
        (b"\x83\x80\0\0\0\0", 1002),
        // Not masked, as clients have to.
        (b"\x81\x02{}", 1002),
    ] {
        let mut socket = server.socket("/ws").await;
        socket.reset(0).await;
        let id = socket.state().await["session_id"].as_str().unwrap().to_string();
        let mut raw = socket.0.into_inner();
        raw.write_all(bytes).await.unwrap();
        let mut close = [0; 4];
        raw.read_exact(&mut close).await.unwrap();
        assert_eq!(close[0], 0x88, "a close frame, not {close:x?}");
        assert_eq!(u16::from_be_bytes([close[2], close[3]]), code, "{bytes:x?}");
        drop(raw);
        let mut back = server.socket(&format!("/ws?session_id={id}")).await;
        assert_eq!(back.step("inc").await["data"]["observation"]["value"], json!(1));
        back.send(r#"{"type":"close"}"#).await;
        assert_eq!(back.closed().await, 1000);
    }
}

#[tokio::test]
async fn a_silent_socket_is_dead_once_it_answered_pings_and_stopped() {
    let ping = Duration::from_millis(20);
    let server = Server::start(Settings { ping, ..Settings::default() }).await;
    let mut socket = server.socket("/ws").await;
    socket.reset(0).await;
    // Reading answers pings; then nobody reads any more.
    while !matches!(socket.0.next().await, Some(Ok(Message::Ping(_)))) {}
    socket.0.flush().await.unwrap();
    until("its place is free", || server.desk.load().0 == 0).await;
    // One that never answered any is not held to it: a tunnel may drop them.
    let quiet = server.socket("/ws").await;
    until("it is there", || server.desk.load().0 == 1).await;
    let mut live = server.socket("/ws").await;
    for _ in 0..20 {
        while !matches!(live.0.next().await, Some(Ok(Message::Ping(_)))) {}
    }
    assert_eq!(server.desk.load().0, 2);
    drop((quiet, live));
}

#[tokio::test]
async fn a_defect_of_the_environment_ends_one_session_only() {
    let server = Server::small(2).await;
    let (mut other, mut socket) = (server.socket("/ws").await, server.socket("/ws").await);
    let reply = socket.step("panic").await;
    assert_eq!(reply["data"]["code"], json!("EXECUTION_ERROR"));
    assert_eq!(socket.closed().await, 1000);
    assert_eq!(other.step("inc").await["type"], json!("observation"));
}
