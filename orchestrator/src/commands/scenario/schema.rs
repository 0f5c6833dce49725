//! `mayday scenario schema`.

use crate::console;
use crate::failure::Failure;

/// Options of `mayday scenario schema`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Options {
    /// The schema of topology files instead.
    #[arg(long)]
    topology: bool,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let kinds = fleet::kinds();
    console::json(&match options.topology {
        true => scenario::schema::topology_schema(&kinds),
        false => scenario::schema(&kinds),
    });
    Ok(())
}
