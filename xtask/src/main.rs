//! `cargo xtask TASK`: parses the command line and runs one task of the list in `tasks`.
#![expect(clippy::print_stderr, reason = "a command-line tool reports on the terminal")]

use std::process::ExitCode;

use clap::Parser as _;
use xtask::tasks::CommandLine;

fn main() -> ExitCode {
    match CommandLine::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
