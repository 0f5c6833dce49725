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
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tower::Layer;
use trail::TrailLayer;

/// Calls in flight get this long to end after the signal to stop.
const DRAIN: Duration = Duration::from_secs(8);
/// How often it is looked whether a name has moved.
const LOOK: Duration = Duration::from_secs(2);
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

/// The same at a name, until `stop` is cancelled. A container that was cut off its network may come
/// back at another address: where the name has moved, it is listened to anew. `lookup`: the present
/// addresses of a name, none where it has none now.
///
/// # Errors
/// Where a listener fails.
pub async fn serve_at<L, A>(
    listen: String,
    (mut listener, mut address): (TcpListener, SocketAddr),
    (routes, mirrored): (Routes, &'static [&'static str]),
    token: Option<Token>,
    lookup: L,
    stop: CancellationToken,
) -> Result<(), Failure>
where
    L: Fn(String) -> A,
    A: Future<Output = Vec<SocketAddr>>,
{
    loop {
        let left = stop.child_token();
        let until = left.clone().cancelled_owned();
        let serving = serve(listener, routes.clone(), token.clone(), mirrored, until);
        let mut serving = tokio::spawn(serving);
        let moved = async {
            loop {
                tokio::time::sleep(LOOK).await;
                let now = lookup(listen.clone()).await;
                if let Some(at) = now.first().filter(|_| !now.contains(&address)) {
                    match bind(*at).await {
                        Ok(bound) => return bound,
                        Err(failure) => tracing::warn!(%failure, "{listen} has moved"),
                    }
                }
            }
        };
        // A name that is none cannot move.
        let literal = listen.parse::<SocketAddr>().is_ok();
        tokio::select! {
            ended = &mut serving => return ended.map_err(Failure::failed)?,
            bound = moved, if !literal => (listener, address) = bound,
        }
        tracing::info!("{listen} has moved to {address}");
        // What is left there lets its calls end by itself.
        left.cancel();
    }
}

/// The present addresses of a name.
pub async fn addresses(name: String) -> Vec<SocketAddr> {
    let found = tokio::net::lookup_host(name).await;
    found.map(Iterator::collect).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering};

    /// Whatever has not happened by then does not happen.
    const DEADLINE: Duration = Duration::from_secs(60);

    async fn until<F: Future<Output = bool>>(is: impl Fn() -> F) {
        let asked = async {
            while !is().await {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(DEADLINE, asked).await.unwrap();
    }

    async fn serves(address: SocketAddr) -> bool {
        chassis::probe(&address.to_string()).await.is_ok()
    }

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn a_listener_follows_its_name_and_stays_where_the_name_is_gone() {
        let bound = bind("127.0.0.1:0").await.unwrap();
        let first = bound.1;
        let second = SocketAddr::from(([127, 0, 0, 2], first.port()));
        let (at, stop) = (Arc::new(AtomicU8::new(0)), CancellationToken::new());
        let asked = Arc::new(AtomicU8::new(0));
        let (told, count) = (at.clone(), asked.clone());
        let lookup = move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            let now = [vec![first], vec![], vec![second]];
            std::future::ready(now[usize::from(told.load(Ordering::SeqCst))].clone())
        };
        let place = ("control.name:1".to_string(), (Routes::default(), &[][..]));
        let serving = serve_at(place.0, bound, place.1, None, lookup, stop.clone());
        let serving = tokio::spawn(serving);
        until(|| serves(first)).await;
        at.store(1, Ordering::SeqCst);
        let seen = asked.load(Ordering::SeqCst);
        until(|| std::future::ready(asked.load(Ordering::SeqCst) > seen + 1)).await;
        assert!(serves(first).await);
        at.store(2, Ordering::SeqCst);
        until(|| serves(second)).await;
        until(|| async { !serves(first).await }).await;
        stop.cancel();
        tokio::time::timeout(DEADLINE, serving).await.unwrap().unwrap().unwrap();
    }
}
