//! The command line: parses, begins the logs, runs the command, and turns its end into an exit
//! code.

use crate::commands::Command;
use crate::console;
use crate::failure::Failure;
use clap::Parser;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Begin with:
  mayday run                         play the suite with the built-in agents
  mayday scenario list               what there is to play
  mayday run overload/retry-storm --agents reference,noop --seeds 3

Results go to stdout, progress and logs to stderr. Exit codes: 0 done, 1 something failed or was
found wanting, 2 bad usage, 130 stopped by Ctrl-C.";

/// An on-call gym for AI agents: a distributed system that is simulated, breaks on purpose, pages
/// the agent, and grades what it did by what the users felt.
#[derive(Debug, Parser)]
#[command(name = "mayday", version, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    /// What to log: a level, or targets with levels.
    #[arg(long, global = true, env = "RUST_LOG", value_name = "FILTER")]
    log: Option<String>,
    #[command(subcommand)]
    command: Command,
}

/// Runs the program with these arguments.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to stdout, complaints to stderr.
            if let Err(unwritten) = error.print().and_then(|()| io::stdout().flush()) {
                console::note_lost(&unwritten);
            }
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            return if code == 0 { done() } else { ExitCode::from(code) };
        }
    };
    match run(cli) {
        Ok(()) => done(),
        Err(failure) => {
            let sentence = failure.to_string();
            if !sentence.is_empty() {
                console::error(sentence);
            }
            failure.code()
        }
    }
}

/// All went well, if what there was to say could be written.
fn done() -> ExitCode {
    let Some(error) = console::lost() else { return ExitCode::SUCCESS };
    console::error(format_args!(
        "stdout cannot be written: {error}; what is there is not complete: give it room and run \
         the command again"
    ));
    ExitCode::FAILURE
}

fn run(cli: Cli) -> Result<(), Failure> {
    let name = cli.command.name();
    let logs = crate::logging::begin(cli.log.as_deref(), cli.command.log(), name)?;
    let ended = cli.command.run();
    logs.end();
    ended
}
