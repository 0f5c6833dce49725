//! `mayday orchestrator`: episodes for others, over the components.

use crate::body::{Body, BodyArgs, Wanted, token};
use crate::console;
use crate::export::ExportArgs;
use crate::failure::Failure;
use crate::judge::AnyJudge;
use crate::keeping::Keeping;
use crate::play::RewardMode;
use crate::preflight;
use crate::service::EpisodesService;
use crate::serving::{self, ListenArgs};
use crate::sessions::{House, Sessions, task_name};
use crate::shelf::LibraryArgs;
use crate::supervisor::{Plan, Supervisor};
use archive::Place;
use chassis::Token;
use otlp::Overflow;
use proto::orchestrator::v1::episodes_server::EpisodesServer;
use serde_json::json;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use tonic::service::Routes;

/// Options of `mayday orchestrator`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    listen: ListenArgs,
    #[command(flatten)]
    body: BodyArgs,
    /// Where records are kept: a file, postgres://USER@HOST/DATABASE, memory or off. With a file
    /// episodes outlive this process; on a server any process may go on with them.
    #[arg(
        long,
        value_name = "PLACE",
        default_value = "memory",
        env = "MAYDAY_RECORDS",
        hide_env_values = true
    )]
    records: Place,
    /// A grader elsewhere; default: one in this process.
    #[arg(long, value_name = "ADDR", env = "MAYDAY_GRADER")]
    grader: Option<String>,
    /// When the reward is paid: with every step, or with the last one.
    #[arg(long, value_enum, value_name = "MODE", default_value = "dense")]
    reward: RewardMode,
    /// Most episodes in memory.
    #[arg(long, value_name = "N", default_value_t = 4096, env = "MAYDAY_MAX_EPISODES")]
    max_episodes: usize,
    #[command(flatten)]
    export: ExportArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

/// Runs it until SIGTERM or Ctrl-C.
///
/// # Errors
/// Where it cannot begin, or the listener fails.
pub fn run(options: Options) -> Result<(), Failure> {
    let scenarios = options.library.open()?.load_all(&[])?;
    let wanted = options.body.wanted()?;
    let store = Keeping::new(options.records.open().map_err(Failure::usage)?);
    let token = token()?;
    let hub = options.export.begin(Overflow::Drop)?;
    crate::runtime::many()?.block_on(async {
        if let Some(grader) = &options.grader {
            chassis::probe(grader).await.map_err(no_grader)?;
        }
        let mut supervisor = None;
        let body = match wanted {
            Wanted::Embedded => Body::Embedded,
            Wanted::Remote(addresses) => {
                preflight::complete(scenarios.iter().map(|s| &**s), &addresses)?;
                Body::Remote { addresses, token: token.clone() }
            }
            Wanted::Private => {
                let started = Supervisor::start(Plan::of_this_program()?).await?;
                let token = Some(started.token().clone());
                let addresses = started.addresses();
                supervisor = Some(started);
                Body::Remote { addresses, token }
            }
        };
        let tasks = scenarios.iter().map(|s| (task_name(&s.name), s.clone()));
        let sessions = Sessions::new(House {
            tasks: tasks.collect::<BTreeMap<_, _>>(),
            source: body.source()?.exporting(hub.clone()),
            judge: AnyJudge::new(options.grader.as_deref(), &body)?,
            store,
            reward: options.reward,
            episodes_max: options.max_episodes,
        });
        let stop = until_stopped(&mut supervisor);
        let served = Box::pin(serve(&options, sessions, token, stop)).await;
        if let Some(supervisor) = supervisor {
            supervisor.stop().await;
        }
        if let Some(hub) = hub {
            hub.finish().await;
        }
        served
    })
}

/// An address that is none is a wrong option; one without an answer is a failure.
fn no_grader(error: chassis::ProbeError) -> Failure {
    let text = format!("--grader: {error}");
    match error {
        chassis::ProbeError::Address(_) => Failure::usage(text),
        _ => Failure::failed(text),
    }
}

/// Until a signal; component processes of its own are looked after meanwhile.
async fn until_stopped(supervisor: &mut Option<Supervisor>) {
    match supervisor {
        None => chassis::stop_signal().await,
        Some(supervisor) => tokio::select! {
            () = supervisor.watch() => {}
            () = chassis::stop_signal() => {}
        },
    }
}

async fn serve(
    options: &Options,
    sessions: Sessions,
    token: Option<Token>,
    stop: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let listen = options.listen.listen;
    serving::warn_if_open(listen, token.as_ref());
    let (listener, address) = serving::bind(listen).await?;
    let service = EpisodesService::new(Arc::new(sessions));
    let routes = Routes::new(EpisodesServer::new(service));
    console::out(json!({"orchestrator": address.to_string()}));
    tracing::info!(%address, records = %options.records, "serving episodes");
    serving::serve(listener, routes, token, stop).await
}
