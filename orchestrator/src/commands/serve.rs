//! `mayday serve`: everything in one process, for agents over OpenEnv.

use crate::agents_port::Gym;
use crate::agents_port::listener::{self, Limits};
use crate::console;
use crate::control::MIRRORED;
use crate::eval::evaluation::Evaluation;
use crate::eval::secret::{Secret, VARIABLE};
use crate::eval::service::EvaluationsService;
use crate::failure::Failure;
use crate::hosting::{Hosted, HostingArgs, RecordsArgs};
use crate::serving;
use crate::stage::Limits as RoomLimits;
use crate::stage::options::{Bound, DialectArgs};
use axum::Router;
use clap::builder::FalseyValueParser;
use openenv::{Desk, Environment, Settings};
use proto::evaluation::v1::evaluations_server::EvaluationsServer;
use scenario::Scenario;
use serde_json::{Map, json};
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;

/// Steps in flight get this long to end after the signal to stop.
const DRAIN: Duration = Duration::from_secs(8);

const EXAMPLES: &str = "\
An episode by hand:
  curl -s -c jar -X POST localhost:8000/reset -H 'content-type: application/json' -d '{\"seed\": 7}'
  curl -s -b jar -X POST localhost:8000/step -H 'content-type: application/json' \\
       -d '{\"action\": {\"action\": \"status\"}}'

From Python: openenv.GenericEnvClient(base_url=\"http://localhost:8000\").
Model Context Protocol (Streamable HTTP): http://localhost:8000/mcp/v1.
Routes and schemas: http://localhost:8000/docs.";

/// Options of `mayday serve`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Where agents connect; port 0 lets the kernel choose. Whoever reaches it may play.
    #[arg(long, value_name = "ADDRESS", env = "MAYDAY_AGENTS", default_value = "127.0.0.1:8000")]
    listen: SocketAddr,
    /// Where the control API listens (gRPC; MAYDAY_TOKEN guards it), or off. Never where agents
    /// can reach it: of a machine on several networks, name the one by its address or host name.
    #[arg(long, value_name = "ADDRESS", env = "MAYDAY_CONTROL", default_value = "127.0.0.1:7100")]
    control: Control,
    /// Most sessions at once; an episode in memory takes up to half a MiB.
    #[arg(long, value_name = "N", env = "MAYDAY_MAX_SESSIONS", default_value_t = 4096,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_sessions: u32,
    /// A session without a request for this long is closed, seconds.
    #[arg(long, value_name = "S", default_value_t = 3600, value_parser = seconds)]
    idle: u64,
    /// A session whose connection broke can be gone on with for this long, seconds; 0: not at all.
    #[arg(long, value_name = "S", default_value_t = 120)]
    grace: u64,
    /// How often a silent WebSocket is pinged, seconds.
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = seconds)]
    ping: u64,
    /// No answer takes longer than this, seconds. OpenEnv's client waits for 60.
    #[arg(long, value_name = "S", default_value_t = 50, value_parser = seconds)]
    answer_within: u64,
    /// Whether /reset, /step and /state are served; sockets play episodes either way.
    #[arg(
        long,
        value_enum,
        value_name = "MODE",
        env = "OPENENV_MODE",
        default_value = "simulation"
    )]
    mode: Mode,
    /// A name under which clients of the Model Context Protocol reach this server, once per name.
    /// Default: this machine's own names where --listen is one of them, else any.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    #[command(flatten)]
    keep: RecordsArgs,
    /// Evaluates: agents play the tasks that `mayday eval --url` gives out at the control port, and
    /// nothing else. Seeds are made with MAYDAY_EVAL_SECRET, or with a secret drawn for this run.
    #[arg(long, env = "MAYDAY_EVALUATE", value_parser = FalseyValueParser::new())]
    evaluate: bool,
    #[command(flatten)]
    dialects: DialectArgs,
    #[command(flatten)]
    hosting: HostingArgs,
}

/// At least one second, at most thirty days.
fn seconds(text: &str) -> Result<u64, String> {
    let seconds = text.parse().ok().filter(|seconds| (1..=2_592_000).contains(seconds));
    seconds.ok_or_else(|| "expected seconds, 1 to 2592000".into())
}

/// What is served over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// With /reset, /step and /state.
    Simulation,
    /// Without them.
    Production,
}

/// Where the control API listens.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Control(Option<String>);

impl FromStr for Control {
    type Err = String;

    fn from_str(text: &str) -> Result<Control, String> {
        match text {
            "off" => Ok(Control(None)),
            _ => {
                let (name, port) = text.rsplit_once(':').unwrap_or_default();
                let address = !name.is_empty() && port.parse::<u16>().is_ok();
                let control = address.then(|| Control(Some(text.into())));
                control.ok_or_else(|| "expected an address such as 127.0.0.1:7100, or off".into())
            }
        }
    }
}

impl Options {
    fn settings(&self) -> Settings {
        let hosts = match (self.hosts.is_empty(), self.listen.ip().is_loopback()) {
            (false, _) => self.hosts.clone(),
            (true, true) => Settings::default().hosts,
            (true, false) => Vec::new(),
        };
        Settings {
            sessions_max: self.max_sessions as usize,
            sessions_option: "--max-sessions",
            idle: Duration::from_secs(self.idle),
            grace: Duration::from_secs(self.grace),
            ping: Duration::from_secs(self.ping),
            answer: Duration::from_secs(self.answer_within),
            simulation: self.mode == Mode::Simulation,
            hosts,
            ..Settings::default()
        }
    }

    /// What an evaluation makes seeds with.
    fn secret(&self) -> Result<Secret, Failure> {
        if self.control.0.is_none() {
            return Err(Failure::usage(
                "--evaluate takes assignments at the control port: leave --control off out",
            ));
        }
        if let Some(secret) = Secret::of_environment()? {
            return Ok(secret);
        }
        tracing::info!("{VARIABLE} is not set: the worlds of this run cannot be had again");
        Secret::draw()
    }

    /// Every session has an episode; as many were left and can be gone on with; a reset makes the
    /// new one before it forgets the old one. Each dialect has sessions of its own.
    fn episodes_max(&self) -> usize {
        let kinds = 3 + 2 * self.dialects.count();
        (self.max_sessions as usize).saturating_mul(kinds).saturating_add(256)
    }

    fn room_limits(&self) -> RoomLimits {
        let idle = Duration::from_secs(self.idle);
        RoomLimits { rooms_max: self.max_sessions as usize, idle }
    }
}

/// Runs it until SIGTERM or Ctrl-C.
///
/// # Errors
/// Where it cannot begin, or a listener fails.
pub fn run(options: Options) -> Result<(), Failure> {
    let (secret, hosting) = match options.evaluate {
        true if options.dialects.count() > 0 => {
            return Err(Failure::usage(
                "a dialect tells the agent what an evaluation hides: leave --dialect and \
                 --dialect-listen out, or --evaluate",
            ));
        }
        true => (Some(options.secret()?), options.hosting.for_evaluation()?),
        false => (None, options.hosting.clone()),
    };
    crate::runtime::open_files();
    let carriers = crate::runtime::carriers()?;
    let served = crate::runtime::many()?.block_on(async {
        let episodes_max = options.episodes_max();
        let played = options.dialects.scenarios(&hosting.shelf()?)?;
        let opened = hosting.open(&options.keep.records, episodes_max, &played);
        let mut hosted = Box::pin(opened).await?;
        let evaluation = secret.map(|secret| Evaluation::new(hosted.sessions.clone(), secret));
        let serving = serve(&options, &mut hosted, evaluation, &played, carriers.handle());
        let served = Box::pin(serving).await;
        hosted.stop().await;
        served
    });
    carriers.shutdown_background();
    served
}

/// Agents are served by `carriers`, worlds are computed in the present runtime.
async fn serve(
    options: &Options,
    hosted: &mut Hosted,
    evaluation: Option<Evaluation>,
    played: &[Arc<Scenario>],
    carriers: &Handle,
) -> Result<(), Failure> {
    let bound = carriers.spawn(serving::bind(options.listen)).await;
    let (agents, address) = bound.map_err(Failure::failed)??;
    let (below, apart) =
        options.dialects.open(&hosted.sessions, played, options.room_limits(), carriers).await?;
    let control = match &options.control.0 {
        None => None,
        Some(listen) => {
            let bound = serving::bind(listen).await.map_err(of_control)?;
            serving::warn_if_open(bound.1, hosted.token.as_ref());
            Some(bound)
        }
    };
    let environment: Arc<dyn Environment> = match &evaluation {
        Some(evaluation) => Arc::new(evaluation.clone()),
        None => Arc::new(Gym::new(hosted.sessions.clone())),
    };
    let desk = Desk::new(environment, options.settings());
    let control_address = control.as_ref().map(|(_, address)| address.to_string());
    let dialects: Map<_, _> = apart.iter().map(Bound::told).collect();
    console::out(json!({
        "agents": address.to_string(), "control": control_address, "dialects": dialects,
    }));
    tracing::info!("agents: http://{address}/ (routes: http://{address}/docs)");
    let stop = CancellationToken::new();
    let upkeep = carriers.spawn({
        let desk = desk.clone();
        async move { desk.upkeep().await }
    });
    for Bound { listener, routes, .. } in apart {
        let (limits, stop) = (Limits::of(desk.settings()), stop.clone());
        carriers.spawn(listener::serve(listener, routes, limits, stop));
    }
    let mut agents = carriers.spawn(serve_agents(agents, desk.clone(), below, stop.clone()));
    let held = desk.clone();
    let routes = routes(hosted.control(Some(Box::new(move || held.load()))), evaluation);
    let (token, stopped) = (hosted.token.clone(), stop.clone());
    let control = control.map(|bound| {
        let (listen, served) = (options.control.0.clone().unwrap_or_default(), (routes, MIRRORED));
        let lookup = serving::addresses;
        tokio::spawn(serving::serve_at(listen, bound, served, token, lookup, stopped))
    });
    let early = tokio::select! {
        () = hosted.until_stopped() => None,
        ended = &mut agents => Some(ended),
    };
    tracing::info!("draining");
    stop.cancel();
    let drained = tokio::time::timeout(DRAIN, desk.drain()).await;
    let ended = match early {
        Some(ended) => ended,
        None => tokio::time::timeout(DRAIN, agents).await.unwrap_or(Ok(Ok(()))),
    };
    upkeep.abort();
    if drained.is_err() {
        tracing::warn!("steps still run after {} s and are left", DRAIN.as_secs());
    }
    let control = match control {
        Some(control) => control.await,
        None => Ok(Ok(())),
    };
    let flat = |ended: Result<Result<(), Failure>, _>| ended.map_err(Failure::failed)?;
    flat(ended).and(flat(control))
}

/// What the control port serves.
fn routes(routes: Routes, evaluation: Option<Evaluation>) -> Routes {
    let evaluations = evaluation.map(EvaluationsService::new).map(EvaluationsServer::new);
    match evaluations {
        Some(evaluations) => routes.add_service(evaluations),
        None => routes,
    }
}

/// Serves agents until `stop` is cancelled. `more`: routes beside the protocol's own.
///
/// # Errors
/// Where the listener fails.
pub(crate) async fn serve_agents(
    listener: TcpListener,
    desk: Arc<Desk>,
    more: Router,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let limits = Limits::of(desk.settings());
    listener::serve(listener, openenv::router(desk).merge(more), limits, stop).await;
    Ok(())
}

/// The same refusal, with the option that chooses this address.
fn of_control(failure: Failure) -> Failure {
    Failure::failed(failure.to_string().replace("--listen", "--control (or off)"))
}
