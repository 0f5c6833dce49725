//! Many agents at one server over `/ws`, each with one message in flight, as OpenEnv's client has
//! it. They take no thought and little of the processor, so that what is measured is the server.

use crate::failure::Failure;
use futures_util::future::try_join_all;
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Whatever has not been answered by then is not.
const PATIENCE: Duration = Duration::from_secs(60);
/// Connections that are made at the same time: as many as listeners let wait.
const AT_ONCE: usize = 64;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Connected agents.
#[derive(Debug)]
pub struct Herd {
    sockets: Vec<Socket>,
}

impl Herd {
    /// So many agents at the server that listens at `address`.
    ///
    /// # Errors
    /// Where one cannot connect.
    pub async fn connect(address: &str, agents: usize) -> Result<Herd, Failure> {
        let mut sockets = Vec::with_capacity(agents);
        while sockets.len() < agents {
            let many = AT_ONCE.min(agents - sockets.len());
            sockets.extend(try_join_all((0..many).map(|_| connect(address))).await?);
        }
        Ok(Herd { sockets })
    }

    /// All of them begin an episode; `data`: what the reset of each has.
    ///
    /// # Errors
    /// Where one is answered with an error, or not.
    pub async fn reset(&mut self, data: impl Fn(usize) -> Value) -> Result<Vec<f64>, Failure> {
        let message = |agent| serde_json::json!({"type": "reset", "data": data(agent)}).to_string();
        let messages: Vec<_> = (0..self.sockets.len()).map(message).collect();
        let each = self.sockets.iter_mut().zip(messages);
        try_join_all(each.map(|(socket, message)| ask(socket, message))).await
    }

    /// All of them take so many steps, each as soon as it has the answer to the one before.
    /// Seconds that each step took.
    ///
    /// # Errors
    /// As [`Herd::reset`].
    pub async fn step(&mut self, action: &Value, steps: usize) -> Result<Vec<f64>, Failure> {
        let message = serde_json::json!({"type": "step", "data": action}).to_string();
        let each = self.sockets.iter_mut().map(|socket| {
            let message = message.clone();
            async move {
                let mut took = Vec::with_capacity(steps);
                for _ in 0..steps {
                    took.push(ask(socket, message.clone()).await?);
                }
                Ok::<_, Failure>(took)
            }
        });
        Ok(try_join_all(each).await?.concat())
    }

    /// All of them leave in order.
    pub async fn leave(self) {
        for mut socket in self.sockets {
            // One that is gone already has left.
            let _ = socket.close(None).await;
        }
    }
}

async fn connect(address: &str) -> Result<Socket, Failure> {
    let url = format!("ws://{address}/ws");
    let connected = timeout(PATIENCE, connect_async(url)).await;
    let connected = connected.map_err(|_| Failure::failed(format!("{address} does not answer")))?;
    let (socket, _) = connected.map_err(|error| Failure::failed(format!("{address}: {error}")))?;
    if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
        stream.set_nodelay(true).map_err(Failure::failed)?;
    }
    Ok(socket)
}

/// Seconds until the answer, which has to be an observation.
async fn ask(socket: &mut Socket, message: String) -> Result<f64, Failure> {
    let begin = Instant::now();
    socket.send(Message::text(message)).await.map_err(Failure::failed)?;
    loop {
        let Ok(next) = timeout(PATIENCE, socket.next()).await else {
            return Err(Failure::failed("a step is not answered"));
        };
        match next {
            Some(Ok(Message::Text(text))) if text.starts_with(r#"{"type":"observation""#) => {
                return Ok(begin.elapsed().as_secs_f64());
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(other)) => return Err(Failure::failed(format!("answered with {other}"))),
            Some(Err(error)) => return Err(Failure::failed(error)),
            None => return Err(Failure::failed("the server closed a socket")),
        }
    }
}
