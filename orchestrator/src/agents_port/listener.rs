//! The listener of the agents' port: whoever reaches it may connect, so connections are counted,
//! and one that is slow or silent is not kept.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use openenv::Settings;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Answered to a connection too many; it gets no more of this server than these bytes.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n\
    retry-after: 1\r\nconnection: close\r\ncontent-length: 64\r\n\r\n\
    {\"detail\":\"too many connections are open: close some and retry\"}";
/// Whoever does not take these bytes does without.
const FULL_PATIENCE: Duration = Duration::from_secs(1);
/// After an error of the system that is not a client's (no file is left to be opened).
const RECOVERY: Duration = Duration::from_millis(100);

/// A person may type as slowly, and an agent may think as long between two requests.
const HEAD: Duration = Duration::from_secs(120);
/// Silence beyond what the server itself causes.
const SPARE: Duration = Duration::from_secs(120);

/// What one connection may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most connections at once.
    pub connections_max: usize,
    /// The head of a request has to be there after so long. It is also how long a connection may
    /// stay open between two requests.
    pub head: Duration,
    /// A connection on which nothing moves either way for so long is closed.
    pub silence: Duration,
}

impl Limits {
    /// For a server that behaves so: each session may have a socket and a spare connection, and
    /// what is pinged or waited for is not silent.
    pub fn of(settings: &Settings) -> Limits {
        let longest = settings.answer.max(settings.ping * 2);
        Limits {
            connections_max: settings.sessions_max.saturating_mul(2).saturating_add(1024),
            head: HEAD,
            silence: longest.saturating_add(SPARE),
        }
    }
}

/// Serves until `stop` is cancelled, then lets requests in flight be answered.
pub async fn serve(listener: TcpListener, routes: Router, limits: Limits, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(limits.connections_max.min(Semaphore::MAX_PERMITS)));
    let open = TaskTracker::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head);
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                if !of_client(&error) {
                    tracing::warn!(%error, "no connection can be accepted");
                    sleep(RECOVERY).await;
                }
                continue;
            }
        };
        let Ok(place) = places.clone().try_acquire_owned() else {
            tokio::spawn(refuse(stream));
            continue;
        };
        // Answers are small and waited for.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no nodelay");
        }
        let wire = Wire::new(stream, limits.silence, place);
        let service = TowerToHyperService::new(routes.clone());
        let connection = http.serve_connection(TokioIo::new(wire), service).with_upgrades();
        let stop = stop.clone();
        open.spawn(async move {
            let mut connection = pin!(connection);
            let ended = match stop.run_until_cancelled(connection.as_mut()).await {
                Some(ended) => ended,
                None => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended");
            }
        });
    }
    drop(listener);
    open.close();
    open.wait().await;
}

/// The client went away before it was served.
fn of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn refuse(mut stream: TcpStream) {
    let answered = async {
        stream.write_all(FULL).await?;
        stream.shutdown().await
    };
    if timeout(FULL_PATIENCE, answered).await.is_err() {
        tracing::debug!("a client that is refused does not read");
    }
}

/// A connection that keeps its place as long as it is open, also after it has become a WebSocket,
/// and that breaks after a time of silence.
#[derive(Debug)]
struct Wire {
    stream: TcpStream,
    silence: Duration,
    end: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl Wire {
    fn new(stream: TcpStream, silence: Duration, place: OwnedSemaphorePermit) -> Wire {
        Wire { stream, silence, end: Box::pin(sleep(silence)), _place: place }
    }

    fn moved(&mut self) {
        let end = Instant::now() + self.silence;
        self.end.as_mut().reset(end);
    }

    /// `polled` where something moved, an error after too much silence.
    fn judged<T>(
        &mut self,
        cx: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.moved();
            return polled;
        }
        ready!(self.end.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.judged(cx, polled)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.judged(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.judged(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::{get, post};
    use tokio::io::AsyncReadExt;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(200);
    const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";

    async fn served(limits: Limits) -> (std::net::SocketAddr, CancellationToken) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let routes = Router::new()
            .route("/", get(|| async { "here" }))
            .route("/", post(|body: String| async move { body }));
        tokio::spawn(serve(listener, routes, limits, stop.clone()));
        (address, stop)
    }

    /// What comes until the server closes.
    async fn said(stream: &mut TcpStream) -> String {
        let mut bytes = Vec::new();
        // A reset after the last byte is an end as well.
        let _ = timeout(LONG, stream.read_to_end(&mut bytes)).await.expect("the server closes");
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test]
    async fn slow_heads_half_bodies_and_silence_are_not_waited_for() {
        let (head, _stop) = served(Limits { connections_max: 9, head: SHORT, silence: LONG }).await;
        let (silent, _stop) =
            served(Limits { connections_max: 9, head: LONG, silence: SHORT }).await;
        for (address, sent) in [
            (head, &b"GET / HT"[..]),
            (head, b""),
            (silent, b"GET / HT"),
            (silent, b""),
            (silent, b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf"),
        ] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(sent).await.unwrap();
            let answer = said(&mut stream).await;
            assert!(!answer.contains("200 OK"), "{answer}");
        }
    }

    #[tokio::test]
    async fn a_connection_too_many_is_told_so_and_a_place_comes_free() {
        let (address, stop) =
            served(Limits { connections_max: 1, head: LONG, silence: LONG }).await;
        let mut first = TcpStream::connect(address).await.unwrap();
        first.write_all(GET).await.unwrap();
        let mut answer = [0; 15];
        first.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200 OK");
        let mut second = TcpStream::connect(address).await.unwrap();
        let answer = said(&mut second).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 503"), "{answer}");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{answer}");
        drop(first);
        let deadline = Instant::now() + LONG;
        loop {
            let mut third = TcpStream::connect(address).await.unwrap();
            third.write_all(GET).await.unwrap();
            let mut answer = [0; 12];
            if third.read_exact(&mut answer).await.is_ok() && &answer[9..] == b"200" {
                break;
            }
            assert!(Instant::now() < deadline, "the place of the first is not free");
        }
        stop.cancel();
    }
}
