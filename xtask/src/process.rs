//! Runs the tools that tasks need, showing each command line before it runs.
#![expect(clippy::print_stdout, reason = "a command-line tool reports on the terminal")]

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};

/// A `cargo` command that starts in `root`.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root);
    command
}

/// Runs with the terminal attached and says whether the command succeeded.
pub fn run(command: &mut Command) -> Result<bool> {
    println!("$ {}", line(command));
    let status = command.status().with_context(|| format!("start `{}`", line(command)))?;
    Ok(status.success())
}

/// Runs like [`run`] and turns the result into the exit code of a task.
pub fn run_as_task(command: &mut Command) -> Result<ExitCode> {
    Ok(if run(command)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs quietly and returns what was written to standard output.
pub fn output(command: &mut Command) -> Result<Vec<u8>> {
    let shown = line(command);
    let output = command.output().with_context(|| format!("start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

/// True when the program starts and exits with success for `--version`.
pub fn installed(program: &str, first: Option<&str>) -> bool {
    let mut command = Command::new(program);
    command.args(first).arg("--version");
    command.output().is_ok_and(|output| output.status.success())
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
