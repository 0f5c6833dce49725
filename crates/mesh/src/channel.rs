//! The one channel type: every client of the workspace calls through it, whether the callee is in
//! this process, behind a socket, or not made yet. It carries bytes; deadlines of real time and
//! repeats are its callers'.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderValue, Request, Response};
use tonic::body::Body;
use tonic::transport::Endpoint;
use tower::util::BoxCloneSyncService;
use tower::{Service, ServiceExt};

/// Metadata that carries the token of a fleet.
pub const TOKEN: &str = "x-mayday-token";

/// A killed container answers nothing, not even a reset: give a connection up after this long.
const PATIENCE: Duration = Duration::from_secs(1);

/// Snapshots of long episodes are the largest messages.
pub const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// Any error of a channel.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A server stack in this process.
pub type LocalService = BoxCloneSyncService<Request<Body>, Response<Body>, Infallible>;

/// An address that no connection can be made to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address:?} is not an address: expected http://host:port")]
pub struct AddressError {
    /// What was given.
    pub address: String,
}

/// A way to a component process. Cloning is cheap and shares the connection.
#[derive(Clone)]
pub struct Channel {
    arm: Route,
    token: Option<HeaderValue>,
}

#[derive(Clone)]
enum Route {
    Local(LocalService),
    Tcp(tonic::transport::Channel),
    Late(Arc<OnceLock<LocalService>>),
}

/// Binds a late channel to its server, once.
#[derive(Clone, Debug)]
pub struct Binding(Arc<OnceLock<LocalService>>);

impl Binding {
    /// Binds; a second time changes nothing.
    pub fn bind(&self, service: LocalService) {
        let _ = self.0.set(service);
    }
}

/// A tonic server, with or without layers, as a local service.
pub fn local_service<S>(service: S) -> LocalService
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send + 'static,
{
    BoxCloneSyncService::new(service)
}

impl Channel {
    /// To a server stack in this process: no socket, no task.
    pub fn local(service: LocalService) -> Channel {
        Channel { arm: Route::Local(service), token: None }
    }

    /// To a server stack of this process that is made later; components may call in circles.
    pub fn late() -> (Channel, Binding) {
        let cell = Arc::new(OnceLock::new());
        (Channel { arm: Route::Late(cell.clone()), token: None }, Binding(cell))
    }

    /// To an address, over HTTP/2. Connects at the first call and again whenever the connection
    /// is gone; the name is looked up each time. Needs a tokio runtime.
    ///
    /// # Errors
    /// Where `address` is not one; `http://` may be left out.
    pub fn tcp(address: &str) -> Result<Channel, AddressError> {
        let full = match address.contains("://") {
            true => address.to_string(),
            false => format!("http://{address}"),
        };
        let bad = || AddressError { address: address.to_string() };
        let endpoint = Endpoint::from_shared(full).map_err(|_| bad())?;
        if endpoint.uri().authority().is_none() || endpoint.uri().scheme_str() != Some("http") {
            return Err(bad());
        }
        let channel = endpoint
            .connect_timeout(PATIENCE)
            .http2_keep_alive_interval(PATIENCE)
            .keep_alive_timeout(PATIENCE)
            .keep_alive_while_idle(true)
            .tcp_nodelay(true)
            .connect_lazy();
        Ok(Channel { arm: Route::Tcp(channel), token: None })
    }

    /// This channel, which shows `token` in every call.
    #[must_use]
    pub fn with_token(mut self, token: Option<HeaderValue>) -> Channel {
        self.token = token.map(|mut token| {
            token.set_sensitive(true);
            token
        });
        self
    }
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let arm = match &self.arm {
            Route::Local(_) => "local",
            Route::Tcp(_) => "tcp",
            Route::Late(_) => "late",
        };
        f.debug_struct("Channel").field("arm", &arm).finish_non_exhaustive()
    }
}

impl Service<Request<Body>> for Channel {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Carried;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match &mut self.arm {
            Route::Local(service) => service.poll_ready(cx).map_err(|never| match never {}),
            Route::Tcp(channel) => channel.poll_ready(cx).map_err(Into::into),
            Route::Late(_) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, mut request: Request<Body>) -> Carried {
        // Extensions cross no network: without this they would reach a local callee, and the
        // bodies would differ.
        request.extensions_mut().clear();
        if let Some(token) = &self.token {
            request.headers_mut().insert(TOKEN, token.clone());
        }
        match &mut self.arm {
            Route::Local(service) => Carried::Local(service.call(request)),
            Route::Tcp(channel) => Carried::Tcp(Box::pin(channel.call(request))),
            Route::Late(cell) => match cell.get() {
                Some(service) => Carried::Local(Box::pin(service.clone().oneshot(request))),
                None => Carried::Unbound,
            },
        }
    }
}

type Boxed<E> = Pin<Box<dyn Future<Output = Result<Response<Body>, E>> + Send>>;

/// The future of a [`Channel`]'s call.
pub enum Carried {
    /// Polled in the caller's task.
    Local(Boxed<Infallible>),
    /// Over a connection.
    Tcp(Boxed<tonic::transport::Error>),
    /// The late channel is not bound.
    Unbound,
}

impl std::fmt::Debug for Carried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Carried")
    }
}

impl Future for Carried {
    type Output = Result<Response<Body>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Carried::Local(answer) => answer.as_mut().poll(cx).map_err(|never| match never {}),
            Carried::Tcp(answer) => answer.as_mut().poll(cx).map_err(Into::into),
            Carried::Unbound => {
                let status =
                    tonic::Status::unavailable("this channel is not bound to a server yet");
                Poll::Ready(Err(status.into()))
            }
        }
    }
}
