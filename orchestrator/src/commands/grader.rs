//! `mayday grader`: grades by asking everybody.

use crate::body::token;
use crate::console;
use crate::failure::Failure;
use crate::serving;
use grader::GraderService;
use serde_json::json;
use std::net::SocketAddr;
use tonic::service::Routes;

/// Options of `mayday grader`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Address to listen on; port 0 lets the kernel choose. Stays on this machine by default.
    #[arg(long, env = "MAYDAY_LISTEN", default_value = "127.0.0.1:7200", value_name = "ADDRESS")]
    listen: SocketAddr,
}

/// Runs it until SIGTERM or Ctrl-C.
///
/// # Errors
/// Where the address cannot be had, or the listener fails.
pub fn run(options: Options) -> Result<(), Failure> {
    let token = token()?;
    let listen = options.listen;
    serving::warn_if_open(listen, token.as_ref());
    crate::runtime::many()?.block_on(async {
        let (listener, address) = serving::bind(listen).await?;
        let service = GraderService::new(fleet::kinds(), token.clone());
        let routes = Routes::new(service.server());
        console::out(json!({"grader": address.to_string()}));
        tracing::info!(%address, "grading");
        serving::serve(listener, routes, token, &[], chassis::stop_signal()).await
    })
}
