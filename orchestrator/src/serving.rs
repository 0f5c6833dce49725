//! Listeners of this binary that are no components: the orchestrator's and the grader's. The same
//! manners as a component's: token, health, drain.

use crate::control::{MirrorLayer, Schema};
use crate::failure::Failure;
use chassis::{Token, TokenLayer};
use futures_util::future::{Either, select};
use std::fmt::Display;
use std::future::Future;
use std::io::Read;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::sync::oneshot;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tower::Layer;
use trail::TrailLayer;

/// Calls in flight get this long to end after the signal to stop.
const DRAIN: Duration = Duration::from_secs(8);
/// How often a silent caller's connection is probed.
const PROBE: Duration = Duration::from_secs(10);

/// Where to listen.
#[derive(Clone, Debug, clap::Args)]
pub struct ListenArgs {
    /// Address to listen on; port 0 lets the kernel choose. Stays on this machine by default.
    #[arg(long, env = "MAYDAY_LISTEN", default_value = "127.0.0.1:7100", value_name = "ADDRESS")]
    pub listen: SocketAddr,
}

/// A listener whose address is known and that does not serve yet. A name is looked up once.
///
/// # Errors
/// Where the address cannot be had.
pub async fn bind<A>(listen: A) -> Result<(TcpListener, SocketAddr), Failure>
where
    A: ToSocketAddrs + Display,
{
    let taken = TcpListener::bind(&listen).await;
    let listener = taken.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => Failure::failed(format!(
            "{listen} is in use: stop the process that listens there, or choose another with \
             --listen"
        )),
        _ => Failure::failed(format!(
            "cannot listen on {listen} ({error}): choose another address with --listen"
        )),
    })?;
    let address = listener.local_addr().map_err(Failure::failed)?;
    Ok((listener, address))
}

/// Serves until `stop` is ready, then lets calls in flight end. The services that are `mirrored`
/// answer JSON over HTTP as well; with none of them only gRPC is spoken.
///
/// # Errors
/// Where the listener fails.
pub async fn serve(
    listener: TcpListener,
    routes: Routes,
    token: Option<Token>,
    mirrored: &'static [&'static str],
    stop: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_service_status("", tonic_health::ServingStatus::Serving).await;
    let routes = routes.add_service(health_service).prepare();
    let service = TokenLayer::new(token).layer(TrailLayer.layer(routes));
    let service = MirrorLayer::new(Schema::new()?, mirrored).layer(service);
    let (asked, wanted) = oneshot::channel::<()>();
    let serving = Server::builder()
        .accept_http1(!mirrored.is_empty())
        .http2_keepalive_interval(Some(PROBE))
        .http2_keepalive_timeout(Some(PROBE))
        .serve_with_incoming_shutdown(
            service,
            TcpIncoming::from(listener).with_nodelay(Some(true)),
            async {
                let _ = wanted.await;
            },
        );
    let mut serving = pin!(serving);
    let ended = match select(serving.as_mut(), pin!(stop)).await {
        Either::Left((ended, _)) => ended,
        Either::Right(((), serving)) => {
            tracing::info!("draining");
            health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
            let _ = asked.send(());
            tokio::time::timeout(DRAIN, serving).await.unwrap_or(Ok(()))
        }
    };
    ended.map_err(|error| Failure::failed(format!("the listener ended: {error}")))
}

/// Ready at SIGTERM or Ctrl-C, and where asked for when stdin is closed.
pub async fn stop(until_stdin_closes: bool) {
    let signal = pin!(chassis::stop_signal());
    if !until_stdin_closes {
        return signal.await;
    }
    let (tell, told) = oneshot::channel::<()>();
    // A thread of its own: one of the runtime's would hold up its end.
    let watching = std::thread::Builder::new().name("stdin".into()).spawn(move || {
        let mut buffer = [0u8; 64];
        while std::io::stdin().lock().read(&mut buffer).is_ok_and(|bytes| bytes > 0) {}
        drop(tell);
    });
    if watching.is_err() {
        return signal.await;
    }
    select(signal, told).await;
}

/// Says so where everybody who reaches this machine may call.
pub fn warn_if_open(listen: SocketAddr, token: Option<&Token>) {
    if token.is_none() && !listen.ip().is_loopback() {
        tracing::warn!(
            "{listen} can be reached from outside and asks for no token: set {} for both sides",
            chassis::token::VARIABLE
        );
    }
}
