//! `mayday component`: one kind as a process.

use crate::body::check_kind;
use crate::console;
use crate::failure::Failure;
use crate::serving;
use chassis::{Component, ComponentArgs};
use serde_json::json;

/// Options of `mayday component`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// The kind, such as app, cache or db.
    #[arg(value_name = "KIND")]
    kind: String,
    #[command(flatten)]
    component: ComponentArgs,
    /// Stop when stdin is closed: whoever started this is gone then.
    #[arg(long, hide = true)]
    until_stdin_closes: bool,
}

/// Runs it until SIGTERM or Ctrl-C.
///
/// # Errors
/// Where the kind is unknown, the address cannot be had, or the listener fails.
pub fn run(options: Options) -> Result<(), Failure> {
    check_kind(&options.kind).map_err(Failure::usage)?;
    let unknown = || Failure::usage(format!("unknown kind `{}`", options.kind));
    let part = fleet::part(&options.kind).ok_or_else(unknown)?;
    let config = options.component.config().map_err(Failure::usage)?;
    serving::warn_if_open(config.listen, config.token.as_ref());
    crate::runtime::many()?.block_on(async {
        let component = Component::bind(part.kind, config).await.map_err(Failure::failed)?;
        let address = component.address().to_string();
        console::out(json!({"kind": options.kind, "address": address}));
        let stop = serving::stop(options.until_stdin_closes);
        component.run(part.requests, stop).await.map_err(Failure::failed)
    })
}
