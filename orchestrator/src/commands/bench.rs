//! `mayday bench`: measures the budgets on this machine.

use crate::bench::{Table, measure};
use crate::console;
use crate::failure::Failure;
use std::path::PathBuf;

/// Options of `mayday bench`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Write the tables to this file as well.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Fewer repeats: a look, not a measurement.
    #[arg(long)]
    quick: bool,
}

/// Runs it.
///
/// # Errors
/// Where component processes cannot be started or the file cannot be written.
pub fn run(options: Options) -> Result<(), Failure> {
    if cfg!(debug_assertions) {
        console::note("this is a debug build: figures are not comparable with the budgets");
    }
    let runtime = crate::runtime::current()?;
    let mut say = |what: &str| console::note(format_args!("measuring {what} …"));
    let rows = runtime.block_on(Box::pin(measure(options.quick, &mut say)))?;
    let text = Table::new(rows).markdown();
    if let Some(file) = &options.write {
        std::fs::write(file, &text).map_err(|error| {
            Failure::failed(format!("{} cannot be written: {error}", file.display()))
        })?;
    }
    console::out_raw(text);
    Ok(())
}
