//! Vectors of Sentinel-SRE, over a WebSocket as they were recorded: kinds and codes of messages,
//! rewards, ends, tasks, health, alerts, attempts, components. Texts are not compared.

use super::number;
use crate::kit::Site;
use crate::verdict::Played;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// One client.
pub(crate) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    /// `query`: what follows the path.
    pub(crate) async fn open(site: &Site, query: &str) -> Socket {
        let url = format!("ws://{}/ws{query}", site.address);
        let (socket, _) = connect_async(url).await.expect("a socket");
        Socket(socket)
    }

    /// Sends a text and takes the answer.
    pub(crate) async fn ask(&mut self, text: String) -> Value {
        self.0.send(Message::text(text)).await.expect("it is sent");
        while let Some(message) = self.0.next().await {
            if let Message::Text(text) = message.expect("a message") {
                return serde_json::from_str(&text).expect("JSON");
            }
        }
        Value::Null
    }
}

pub(crate) async fn play(site: &Site, vector: &Value) -> Played {
    let mut socket = Socket::open(site, "").await;
    match vector["id"].as_str() {
        Some("se-41") => return beside(site, &mut socket, vector).await,
        Some("se-42") => return malformed(&mut socket, vector).await,
        _ => {}
    }
    let mut played = Played::default();
    let recorded = &vector["reset_response"];
    let reset = socket.ask(vector["reset_request"].to_string()).await;
    if failed(&mut played, "reset", recorded, &reset) {
        return played;
    }
    compare(&mut played, "reset", recorded, &reset["data"]);
    let mut rewards = Vec::new();
    for (at, step) in vector["steps"].as_array().into_iter().flatten().enumerate() {
        let what = format!("step {}", at + 1);
        let answer = socket.ask(step["request"].to_string()).await;
        if failed(&mut played, &what, &step["error"], &answer) {
            continue;
        }
        let (reward, done) = (number(step, "/response_reward"), &step["response_done"]);
        let recorded = json!({"reward": reward, "done": done, "obs": step["obs"]});
        compare(&mut played, &what, &recorded, &answer["data"]);
        rewards.push(number(&answer, "/data/reward").expect("a reward"));
        let state = socket.ask(json!({"type": "state"}).to_string()).await;
        for name in ["step_count", "services_status", "resolved", "sla_target_steps"] {
            let (recorded, here) = (&step["state"][name], &state["data"][name]);
            played.state(&format!("{what}, {name}"), recorded, here);
        }
    }
    // The mean of the steps' rewards, as the original's own client computes it.
    if !rewards.is_empty() {
        let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
        played.score = Some(mean.clamp(0.01, 0.99));
        played.number("final score", number(vector, "/final_score"), played.score);
    }
    played
}

/// Whether the answer is an error; it should be the recorded one.
fn failed(played: &mut Played, what: &str, recorded: &Value, here: &Value) -> bool {
    if here["type"] == "error" {
        played.errors += 1;
        if !here["data"]["message"].is_string() {
            played.broken.push(format!("{what}: an error without a message: {here}"));
        }
    }
    let code = recorded.get("code").unwrap_or(&Value::Null);
    played.same(&format!("{what}, code"), code, &here["data"]["code"]);
    here["type"] == "error"
}

fn compare(played: &mut Played, what: &str, recorded: &Value, here: &Value) {
    let reward = (number(recorded, "/reward"), number(here, "/reward"));
    played.number(&format!("{what}, reward"), reward.0, reward.1);
    played.same(&format!("{what}, done"), &recorded["done"], &here["done"]);
    for name in ["task_id", "active_alerts", "attempts_remaining"] {
        let (there, here) = (&recorded["obs"][name], &here["observation"][name]);
        played.state(&format!("{what}, {name}"), there, here);
    }
    let health = |value: &Value, pointer| number(value, pointer).map(|h| (h * 1e4).round());
    let there = health(recorded, "/obs/system_health");
    played.state(&format!("{what}, health"), there, health(here, "/observation/system_health"));
}

/// A second client beside the first one: it plays, too.
async fn beside(site: &Site, first: &mut Socket, vector: &Value) -> Played {
    let mut played = Played::default();
    let mut second = Socket::open(site, "").await;
    let reset = json!({"type": "reset", "data": {"task_id": vector["task"]}}).to_string();
    for socket in [&mut *first, &mut second] {
        let answer = socket.ask(reset.clone()).await;
        if failed(&mut played, "reset", &Value::Null, &answer) {
            return played;
        }
    }
    let step = json!({
        "type": "step", "data": {"command": "restart_service", "target": "web-api"},
    });
    let answer = second.ask(step.to_string()).await;
    played.score = number(&answer, "/data/reward");
    let state = first.ask(json!({"type": "state"}).to_string()).await;
    played.state("the first one's steps", &json!(0), &state["data"]["step_count"]);
    played
}

async fn malformed(socket: &mut Socket, vector: &Value) -> Played {
    let mut played = Played::default();
    for (at, step) in vector["steps"].as_array().into_iter().flatten().enumerate() {
        let text = step["request"].as_str().expect("a text").to_string();
        let answer = socket.ask(text).await;
        failed(&mut played, &format!("message {}", at + 1), step, &answer);
    }
    played
}
