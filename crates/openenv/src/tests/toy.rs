//! An environment that counts, and clients for it.

use crate::{
    About, Begun, Catalogue, Desk, End, Environment, Fields, Item, Refusal, Seen, Settings, Split,
    Tool, Turn, Wish, router,
};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, SinkExt, StreamExt};
use http_body_util::BodyExt;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use tower::ServiceExt;

/// Whatever has not happened by then does not happen.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Toy {
    catalogue: Catalogue,
    values: Mutex<BTreeMap<String, i64>>,
    made: AtomicU64,
    /// Steps that `hold` wait here.
    pub(crate) gate: Semaphore,
    /// Steps that `hold` and wait now.
    pub(crate) held: AtomicU64,
}

impl Toy {
    pub(crate) fn new() -> Arc<Toy> {
        let arguments = json!({
            "type": "object", "required": [], "additionalProperties": false,
            "properties": {"amount": {"type": "integer", "default": 1}},
        });
        let mut action = arguments.clone();
        action["properties"]["op"] = json!({"const": "inc"});
        let tool = |name: &str| Tool {
            name: name.into(),
            description: "Counts.".into(),
            arguments: arguments.clone(),
            reads: false,
            name_field: "op",
        };
        let split = |name, first| Split { name, first, last: first + 99, listed: 2 };
        let catalogue = Catalogue {
            about: About {
                name: "toy".into(),
                description: "Counts.".into(),
                version: Some("1".into()),
                ..About::default()
            },
            actions: vec![action],
            observation: json!({
                "type": "object", "required": ["value"], "additionalProperties": false,
                "properties": {"value": {"type": "integer"}},
            }),
            tools: vec![tool("inc"), tool("reset"), tool("hold"), tool("end")],
            tasks: vec!["one".into(), "two".into(), "three".into()],
            splits: vec![split("train", 0), split("validation", 100), split("test", 200)],
        };
        Arc::new(Toy {
            catalogue,
            values: Mutex::default(),
            made: AtomicU64::new(0),
            gate: Semaphore::new(0),
            held: AtomicU64::new(0),
        })
    }

    /// Episodes that are not forgotten.
    pub(crate) fn live(&self) -> usize {
        self.values.lock().len()
    }
}

fn see(value: i64) -> Seen {
    Seen::new(&json!({"value": value})).unwrap()
}

impl Environment for Toy {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn begin(&self, wish: Wish) -> BoxFuture<'_, Result<Begun, Refusal>> {
        async move {
            let task = wish.task.unwrap_or_else(|| "one".into());
            if !self.catalogue.tasks.contains(&task) {
                let item = Item::new("literal_error", &["task"], "unknown task", task.into());
                return Err(Refusal::Invalid(vec![item]));
            }
            let episode = format!("e{}", self.made.fetch_add(1, Ordering::Relaxed));
            let value = wish.seed.map_or(0, |seed| (seed % 1000) as i64);
            self.values.lock().insert(episode.clone(), value);
            Ok(Begun { episode, task, seen: see(value) })
        }
        .boxed()
    }

    fn step<'a>(
        &'a self,
        episode: &'a str,
        mut action: Fields,
    ) -> BoxFuture<'a, Result<Turn, Refusal>> {
        async move {
            let whole = Value::Object(action.clone());
            let op = action.remove("op");
            let amount = action.remove("amount").and_then(|n| n.as_i64()).unwrap_or(1);
            if let Some((name, value)) = action.iter().next() {
                return Err(Refusal::Invalid(vec![Item::extra(&[name], value)]));
            }
            let op = op.as_ref().and_then(Value::as_str);
            let op = op.ok_or_else(|| Refusal::Invalid(vec![Item::missing(&["op"], &whole)]))?;
            match op {
                "boom" => return Err(Refusal::Failed("boom from the environment".into())),
                "panic" => panic!("as it was told"),
                "hold" => {
                    self.held.fetch_add(1, Ordering::SeqCst);
                    self.gate.acquire().await.unwrap().forget();
                    self.held.fetch_sub(1, Ordering::SeqCst);
                }
                _ => {}
            }
            let mut values = self.values.lock();
            let value = values.get_mut(episode).expect("it is not forgotten");
            *value += amount;
            let end = match op {
                "end" => Some(End { reason: "resolved".into(), truncated: false }),
                "limit" => Some(End { reason: "horizon".into(), truncated: true }),
                _ => None,
            };
            Ok(Turn { seen: see(*value), reward: amount as f64, end })
        }
        .boxed()
    }

    fn forget<'a>(&'a self, episode: &'a str) -> BoxFuture<'a, ()> {
        async move {
            self.values.lock().remove(episode).expect("it is forgotten once");
        }
        .boxed()
    }
}

/// A server over a toy.
pub(crate) struct Server {
    pub(crate) toy: Arc<Toy>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) routes: Router,
    pub(crate) address: String,
}

impl Server {
    pub(crate) async fn start(settings: Settings) -> Server {
        let toy = Toy::new();
        let desk = Desk::new(toy.clone(), settings);
        let routes = router(desk.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let serving = axum::serve(listener, routes.clone()).into_future();
        tokio::spawn(serving);
        let kept = desk.clone();
        tokio::spawn(async move { kept.upkeep().await });
        Server { toy, desk, routes, address }
    }

    pub(crate) async fn small(sessions_max: usize) -> Server {
        Server::start(Settings { sessions_max, sessions_option: "--max", ..Settings::default() })
            .await
    }

    pub(crate) async fn ask(&self, request: Request<Body>) -> (StatusCode, HeaderMap, String) {
        let response = self.routes.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        (parts.status, parts.headers, String::from_utf8(bytes.to_vec()).unwrap())
    }

    pub(crate) async fn get(&self, path: &str) -> (StatusCode, Value) {
        let (status, _, text) = self.ask(Request::get(path).body(Body::empty()).unwrap()).await;
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        session: Option<&str>,
        body: impl Into<String>,
    ) -> (StatusCode, HeaderMap, Value) {
        let mut request = Request::post(path).header("content-type", "application/json");
        if let Some(session) = session {
            request = request.header("openenv-session-id", session);
        }
        let (status, headers, text) =
            self.ask(request.body(Body::from(body.into())).unwrap()).await;
        (status, headers, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub(crate) async fn rpc(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let (status, _, reply) = self.post("/mcp", None, body.to_string()).await;
        assert_eq!((status, &reply["jsonrpc"]), (StatusCode::OK, &json!("2.0")));
        reply
    }

    pub(crate) async fn socket(&self, path: &str) -> Client {
        let url = format!("ws://{}{path}", self.address);
        let (socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
        Client(socket)
    }
}

/// A client of a socket.
pub(crate) struct Client(pub(crate) WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Client {
    pub(crate) async fn send(&mut self, text: impl Into<String>) {
        self.0.send(Message::text(text.into())).await.unwrap();
    }

    /// The next message that is no ping.
    pub(crate) async fn next(&mut self) -> Message {
        loop {
            let message = tokio::time::timeout(DEADLINE, self.0.next()).await.expect("an answer");
            match message.expect("open").expect("whole") {
                Message::Ping(_) => {}
                other => return other,
            }
        }
    }

    pub(crate) async fn read(&mut self) -> Value {
        match self.next().await {
            Message::Text(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn tell(&mut self, message: Value) -> Value {
        self.send(message.to_string()).await;
        self.read().await
    }

    pub(crate) async fn reset(&mut self, seed: u64) -> Value {
        self.tell(json!({"type": "reset", "data": {"seed": seed}})).await
    }

    pub(crate) async fn step(&mut self, op: &str) -> Value {
        self.tell(json!({"type": "step", "data": {"op": op}})).await
    }

    pub(crate) async fn state(&mut self) -> Value {
        self.tell(json!({"type": "state"})).await["data"].take()
    }

    /// The code it is closed with.
    pub(crate) async fn closed(&mut self) -> u16 {
        match self.next().await {
            Message::Close(Some(frame)) => frame.code.into(),
            other => panic!("{other:?}"),
        }
    }

    /// The connection ends without a word.
    pub(crate) fn vanish(self) {
        drop(self);
    }
}

/// Asks again and again until it is so.
pub(crate) async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let end = tokio::time::Instant::now() + DEADLINE;
    while !is() {
        assert!(tokio::time::Instant::now() < end, "never: {what}");
        tokio::task::yield_now().await;
    }
}
