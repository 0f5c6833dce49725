//! `mayday scenario`: what there is to play, and whether it is worth playing.

mod check;
mod list;
mod schema;
mod show;

use crate::failure::Failure;

/// Options of `mayday scenario`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(subcommand)]
    task: Task,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Task {
    /// Lists the scenarios.
    List(list::Options),
    /// Shows one scenario, resolved: system, fault, page, plans. Spoils it.
    Show(show::Options),
    /// Proves that scenarios are sound and worth solving.
    Check(check::Options),
    /// Prints the JSON Schema of scenario files, for completion in an editor.
    Schema(schema::Options),
}

/// Runs it.
///
/// # Errors
/// Where a scenario is unknown, or not as it should be.
pub fn run(options: Options) -> Result<(), Failure> {
    match options.task {
        Task::List(options) => list::run(&options),
        Task::Show(options) => show::run(&options),
        Task::Check(options) => check::run(&options),
        Task::Schema(options) => schema::run(&options),
    }
}
