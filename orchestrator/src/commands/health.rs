//! `mayday health`: the health check of a container, in an image without a shell.

use crate::console;
use crate::failure::Failure;

/// Options of `mayday health`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Where the process listens.
    #[arg(env = "MAYDAY_LISTEN", default_value = "127.0.0.1:7000", value_name = "ADDR")]
    address: String,
}

/// Runs it.
///
/// # Errors
/// Where the process does not serve.
pub fn run(options: Options) -> Result<(), Failure> {
    // A process that listens everywhere is asked here.
    let address = match options.address.strip_prefix("0.0.0.0:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => options.address.replace("[::]:", "[::1]:"),
    };
    let runtime = crate::runtime::current()?;
    runtime.block_on(chassis::probe(&address)).map_err(Failure::failed)?;
    console::out(format_args!("{address} serves"));
    Ok(())
}
