//! `mayday orchestrator`: episodes for others, over the components.

use crate::console;
use crate::control::MIRRORED;
use crate::failure::Failure;
use crate::hosting::{Hosted, HostingArgs};
use crate::serving::{self, ListenArgs};
use archive::Place;
use serde_json::json;

/// Options of `mayday orchestrator`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    listen: ListenArgs,
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
    /// Most episodes in memory.
    #[arg(long, value_name = "N", default_value_t = 4096, env = "MAYDAY_MAX_EPISODES")]
    max_episodes: usize,
    #[command(flatten)]
    hosting: HostingArgs,
}

/// Runs it until SIGTERM or Ctrl-C.
///
/// # Errors
/// Where it cannot begin, or the listener fails.
pub fn run(options: Options) -> Result<(), Failure> {
    crate::runtime::many()?.block_on(async {
        let opened = options.hosting.open(&options.records, options.max_episodes, &[]);
        let mut hosted = Box::pin(opened).await?;
        let served = Box::pin(serve(&options, &mut hosted)).await;
        hosted.stop().await;
        served
    })
}

async fn serve(options: &Options, hosted: &mut Hosted) -> Result<(), Failure> {
    let (listen, token) = (options.listen.listen, hosted.token.clone());
    serving::warn_if_open(listen, token.as_ref());
    let (listener, address) = serving::bind(listen).await?;
    let routes = hosted.control(None);
    console::out(json!({"orchestrator": address.to_string()}));
    tracing::info!(%address, records = %options.records, "serving episodes");
    serving::serve(listener, routes, token, MIRRORED, hosted.until_stopped()).await
}
