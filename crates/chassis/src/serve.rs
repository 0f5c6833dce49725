//! A component process: one listener with the control plane, the kind's request plane and health.
//! The same stack, without the listener, is the in-memory body.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use machine::Kind;
use mesh::channel::MESSAGE_BYTES_MAX;
use mesh::{LocalService, Peers, local_service};
use proto::control::v1::component_server::ComponentServer;
use tokio::net::TcpListener;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tower::Layer;
use trail::TrailLayer;

use crate::answer::Desk;
use crate::household::{Household, Limits};
use crate::service::ControlService;
use crate::token::{Token, TokenLayer};

/// The request plane of a kind over a desk: each service crate exports one of these.
pub type RequestRoutes = fn(Desk) -> Routes;

/// Calls in flight get this long to end after the signal to stop.
const DRAIN: Duration = Duration::from_secs(8);
/// How often idle episodes are looked for.
const SWEEP: Duration = Duration::from_secs(60);
/// How often a silent caller's connection is probed.
const PROBE: Duration = Duration::from_secs(10);

/// How a component process is to run.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; port 0: the kernel chooses.
    pub listen: SocketAddr,
    /// What callers have to show, and what is shown to peers; `None`: nothing.
    pub token: Option<Token>,
    /// How much it holds.
    pub limits: Limits,
    /// Serve gRPC reflection.
    pub reflection: bool,
}

/// Why a component process cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another process listens there.
    #[error("{0} is in use: stop the process that listens there, or choose another with --listen")]
    InUse(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {0} ({1}): choose another address with --listen")]
    Listen(SocketAddr, std::io::Error),
    /// The server ended.
    #[error("the listener ended: {0}")]
    Ended(#[from] tonic::transport::Error),
    /// The descriptors cannot be served.
    #[error("reflection cannot be served: {0}")]
    Reflection(String),
}

impl Desk {
    /// A new desk: no episodes, no peers.
    pub fn new(kind: &'static dyn Kind, limits: Limits, token: Option<&Token>) -> Desk {
        let household = Arc::new(Household::new(kind, limits));
        Desk { household, peers: Peers::new(token.map(Token::header)) }
    }

    /// Both planes over this desk.
    fn routes(&self, requests: RequestRoutes) -> Routes {
        let control = ComponentServer::new(ControlService::new(self.clone()))
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        requests(self.clone()).add_service(control)
    }

    /// Both planes as a service of this process, behind `token`.
    pub fn in_memory(&self, requests: RequestRoutes, token: Option<Token>) -> LocalService {
        local_service(TokenLayer::new(token).layer(self.routes(requests).prepare()))
    }
}

/// A component process that listens but does not serve yet.
#[derive(Debug)]
pub struct Component {
    desk: Desk,
    config: Config,
    listener: TcpListener,
    address: SocketAddr,
}

impl Component {
    /// Takes the listening address.
    ///
    /// # Errors
    /// Where it cannot be had.
    pub async fn bind(kind: &'static dyn Kind, config: Config) -> Result<Component, ServeError> {
        let taken = TcpListener::bind(config.listen).await;
        let listener = taken.map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrInUse => ServeError::InUse(config.listen),
            _ => ServeError::Listen(config.listen, error),
        })?;
        let address =
            listener.local_addr().map_err(|error| ServeError::Listen(config.listen, error))?;
        let desk = Desk::new(kind, config.limits, config.token.as_ref());
        Ok(Component { desk, config, listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it serves from.
    pub fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Serves until `stop` is ready, then lets calls in flight end.
    ///
    /// # Errors
    /// Where the listener fails.
    pub async fn run(
        self,
        requests: RequestRoutes,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        let Component { desk, config, listener, address } = self;
        let kind = desk.household.kind().name();
        let (health, health_service) = tonic_health::server::health_reporter();
        health.set_service_status("", tonic_health::ServingStatus::Serving).await;
        health.set_serving::<ComponentServer<ControlService>>().await;
        let mut routes = desk.routes(requests).add_service(health_service);
        if config.reflection {
            routes = routes.add_service(reflection()?);
        }
        let service = TokenLayer::new(config.token).layer(TrailLayer.layer(routes.prepare()));
        let (asked, wanted) = tokio::sync::oneshot::channel::<()>();
        let serving = Server::builder()
            .http2_keepalive_interval(Some(PROBE))
            .http2_keepalive_timeout(Some(PROBE))
            .serve_with_incoming_shutdown(
                service,
                TcpIncoming::from(listener).with_nodelay(Some(true)),
                async {
                    let _ = wanted.await;
                },
            );
        tracing::info!(kind, %address, incarnation = desk.household.incarnation(), "serving");
        let ended = {
            let mut serving = pin!(serving);
            let upkeep = pin!(upkeep(&desk.household, stop));
            match select(serving.as_mut(), upkeep).await {
                Either::Left((ended, _)) => ended,
                Either::Right(((), serving)) => {
                    tracing::info!(kind, "draining");
                    health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
                    let _ = asked.send(());
                    tokio::time::timeout(DRAIN, serving).await.unwrap_or(Ok(()))
                }
            }
        };
        tracing::info!(kind, "stopped");
        Ok(ended?)
    }
}

/// Sweeps idle episodes until `stop` is ready.
async fn upkeep(household: &Household, stop: impl Future<Output = ()>) {
    let mut stop = pin!(stop);
    loop {
        match tokio::time::timeout(SWEEP, stop.as_mut()).await {
            Ok(()) => return,
            Err(_) => {
                let forgotten = household.sweep();
                if forgotten > 0 {
                    tracing::info!(forgotten, "idle episodes forgotten");
                }
            }
        }
    }
}

fn reflection() -> Result<
    tonic_reflection::server::v1::ServerReflectionServer<
        impl tonic_reflection::server::v1::ServerReflection,
    >,
    ServeError,
> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(proto::DESCRIPTOR)
        .build_v1()
        .map_err(|error| ServeError::Reflection(error.to_string()))
}

/// Binds and serves one kind until SIGTERM or Ctrl-C.
///
/// # Errors
/// Where the address cannot be had or the listener fails.
pub async fn serve(
    kind: &'static dyn Kind,
    config: Config,
    requests: RequestRoutes,
) -> Result<(), ServeError> {
    Component::bind(kind, config).await?.run(requests, stop_signal()).await
}

/// Ready at SIGTERM or Ctrl-C. In a container the process is the first one and nobody else
/// handles them.
pub async fn stop_signal() {
    let interrupt = pin!(async {
        let _ = tokio::signal::ctrl_c().await;
    });
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            let terminate = pin!(terminate.recv());
            select(interrupt, terminate).await;
            return;
        }
    }
    interrupt.await;
}
