//! `mayday bench`: measures the budgets on this machine.

use crate::bench::{Table, measure, measure_agents};
use crate::console;
use crate::failure::Failure;
use std::path::PathBuf;

/// Options of `mayday bench`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Write the tables to this file as well. Those of other machines that are in it stay.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Fewer repeats: a look, not a measurement.
    #[arg(long)]
    quick: bool,
    /// Only some of it; default: all.
    #[arg(value_enum, value_name = "PART")]
    parts: Vec<Part>,
    /// A Python that has the package openenv: its server is measured beside this one.
    #[arg(long, value_name = "PYTHON")]
    reference: Option<PathBuf>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Ticks, resets, forks, memory, remote steps.
    Worlds,
    /// Steps of many agents at a server.
    Agents,
}

impl Options {
    async fn measure(&self) -> Result<Table, Failure> {
        let mut say = |what: &str| console::note(format_args!("measuring {what} …"));
        let wanted = |part| self.parts.is_empty() || self.parts.contains(&part);
        let (mut rows, mut agents) = (Vec::new(), Vec::new());
        if wanted(Part::Worlds) {
            rows = Box::pin(measure(self.quick, &mut say)).await?;
        }
        if wanted(Part::Agents) {
            let python = self.reference.as_deref();
            agents = Box::pin(measure_agents(self.quick, python, &mut say)).await?;
        }
        Ok(Table::new(rows, agents))
    }
}

/// Runs it.
///
/// # Errors
/// Where component processes cannot be started or the file cannot be written.
pub fn run(options: Options) -> Result<(), Failure> {
    if cfg!(debug_assertions) {
        console::note("this is a debug build: figures are not comparable with the budgets");
    }
    // Dropped in the middle, what is measured takes its processes and folders along.
    let table = crate::runtime::current()?.block_on(async {
        tokio::select! {
            biased;
            () = chassis::stop_signal() => Err(Failure::Interrupted),
            table = Box::pin(options.measure()) => table,
        }
    });
    let table = table?;
    if let Some(file) = &options.write {
        // What cannot be read is about to be said by the write.
        let before = std::fs::read_to_string(file).unwrap_or_default();
        std::fs::write(file, table.document(&before)).map_err(|error| {
            Failure::failed(format!("{} cannot be written: {error}", file.display()))
        })?;
    }
    console::out_raw(table.document(""));
    Ok(())
}
