//! Small clients that make the same requests as the originals' own inference programs, with a
//! scripted model behind them. They need an address and a chat endpoint, as the originals do.

mod incident_sim;
mod netarena;
mod sentinel;
mod triage;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/tools/fake_llm.py");

/// A chat endpoint with these rules; it ends with the test.
struct Model {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a model says where the user says `when`, one reply after another.
fn rule(when: &str, index: &str, replies: &[&str]) -> Value {
    let replies: Vec<_> = replies
        .iter()
        .map(|reply| match *reply {
            "400" => json!({"status": 400, "content": "scripted refusal"}),
            text => json!(text),
        })
        .collect();
    json!({"when": [when], "index": index, "replies": replies})
}

impl Model {
    fn start(rules: Vec<Value>, default: &str) -> Model {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("script.json");
        let sets = json!({"set": {"rules": rules, "default": default}});
        std::fs::write(&script, sets.to_string()).expect("it is written");
        let (child, address) = spawn(&script);
        Model { child, address, _folder: folder }
    }

    /// The content of the reply to a conversation; `None` where the endpoint refuses.
    async fn chat(&self, messages: &[Value], settings: Value) -> Option<String> {
        let mut request = json!({"model": "scripted", "messages": messages});
        for (name, value) in settings.as_object().expect("settings") {
            request[name] = value.clone();
        }
        let body = request.to_string();
        let mut stream = TcpStream::connect(&self.address).await.expect("a model");
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer none\r\n\
             connection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).await.expect("sent");
        stream.write_all(body.as_bytes()).await.expect("sent");
        let (mut answer, mut chunk) = (Vec::new(), [0; 4096]);
        // The length is in the head; the server keeps the connection open.
        loop {
            let text = String::from_utf8_lossy(&answer);
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let lower = head.to_lowercase();
                let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
                let length: usize = length.expect("a length").trim().parse().expect("a number");
                if body.len() >= length {
                    let value: Value = serde_json::from_str(body).expect("JSON");
                    let content = &value["choices"][0]["message"]["content"];
                    let fine = head.starts_with("HTTP/1.1 200") || head.starts_with("HTTP/1.0 200");
                    return fine.then(|| content.as_str().unwrap_or_default().to_string());
                }
            }
            let read = stream.read(&mut chunk).await.expect("an answer");
            assert!(read > 0, "the model hung up: {text}");
            answer.extend_from_slice(&chunk[..read]);
        }
    }
}

fn spawn(script: &Path) -> (Child, String) {
    let mut child = Command::new("python3")
        .arg(MODEL)
        .args(["--script".as_ref(), script.as_os_str()])
        .args(["--set", "set"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs the scripted model");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    let said: Value = serde_json::from_str(&line).expect("its address");
    let url = said["url"].as_str().expect("a text");
    let address = url.trim_start_matches("http://").trim_end_matches("/v1").to_string();
    (child, address)
}

/// A word for a flag, as the originals' log lines have it.
fn word(flag: bool) -> &'static str {
    if flag { "true" } else { "false" }
}
