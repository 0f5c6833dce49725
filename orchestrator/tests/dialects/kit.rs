//! A dialect in this process, on a real listener; the routes are those that `mayday serve` serves.

use axum::Router;
use axum::body::Body as HttpBody;
use axum::http::Request;
use mayday::agents_port::listener::{self, Limits as Connections};
use mayday::body::Body;
use mayday::dialects;
use mayday::judge::AnyJudge;
use mayday::keeping::Keeping;
use mayday::play::RewardMode;
use mayday::sessions::{House, Sessions};
use mayday::stage::{Limits, Stage};
use record::OffStore;
use scenario::{Library, Scenario};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// A dialect that is served.
pub(crate) struct Site {
    router: Router,
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// An answer: its status and its body, null where that is no JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Site {
    /// The dialect as it is shipped.
    pub(crate) async fn of(dialect: &str) -> Site {
        Site::altered(dialect, true, |_| {}).await
    }

    /// With other scenarios, and perhaps without the figures of calibration tables.
    pub(crate) async fn altered(
        dialect: &str,
        figures: bool,
        alter: impl Fn(&mut Scenario),
    ) -> Site {
        let dialect = dialects::find(dialect).expect("a dialect of the list");
        let (library, kinds) = (Library::shipped(), fleet::kinds());
        let scenarios = dialect.scenarios.iter().map(|name| {
            let mut scenario = scenario::load(&library, name, &kinds).expect("sound");
            alter(&mut scenario);
            Arc::new(scenario)
        });
        let sessions = Arc::new(Sessions::new(House {
            tasks: Default::default(),
            source: Body::Embedded.source().expect("embedded"),
            judge: AnyJudge::new(None, &Body::Embedded).expect("a judge"),
            store: Keeping::new(Arc::new(OffStore)),
            reward: RewardMode::Final,
            episodes_max: 10_000,
        }));
        let limits = Limits { rooms_max: 1000, idle: Duration::from_secs(3600) };
        let stage = Stage::new(sessions, scenarios, limits);
        let stage = if figures { stage } else { stage.without_figures() };
        let router = dialect.router(Arc::new(stage));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let stop = CancellationToken::new();
        let connections = Connections::of(&openenv::Settings::default());
        tokio::spawn(listener::serve(listener, router.clone(), connections, stop.clone()));
        Site { router, address, stop }
    }

    /// Sends a request within a session; without a name it is the default session.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        session: &str,
        body: Option<&Value>,
    ) -> Answer {
        let text = body.map(Value::to_string).unwrap_or_default();
        self.send(method, path, session, text).await
    }

    /// The same with a body as it is.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        session: &str,
        body: String,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header("content-type", "application/json");
        if !session.is_empty() {
            request = request.header("openenv-session-id", session);
        }
        self.answer(request.body(HttpBody::from(body)).expect("a request")).await
    }

    /// Sends any request.
    pub(crate) async fn answer(&self, request: Request<HttpBody>) -> Answer {
        let response = self.router.clone().oneshot(request).await.expect("an answer");
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 24).await.expect("a body");
        Answer { status, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) }
    }
}

/// Whether the full counts are asked for.
#[expect(clippy::disallowed_methods, reason = "the switch to the full counts")]
pub(crate) fn soak() -> bool {
    std::env::var_os("MAYDAY_SOAK").is_some()
}
