//! The one binary of mayday.

use std::process::ExitCode;

fn main() -> ExitCode {
    mayday::cli::main(std::env::args_os())
}
