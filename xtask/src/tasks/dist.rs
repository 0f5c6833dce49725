//! `dist`: one release binary in `dist/`. On Linux with the GNU target it is static, so that it
//! runs from an empty image; elsewhere it is linked as the platform does.

use std::fs;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::process;
use crate::workspace::Workspace;

/// Options of `dist`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {}

/// Runs the task.
pub fn run(workspace: &Workspace, _args: &Args) -> Result<ExitCode> {
    let version = process::output(Command::new("rustc").arg("-vV"))?;
    let version = String::from_utf8_lossy(&version);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let mut command = process::cargo(workspace.root());
    command.args(["build", "--release", "--locked", "--package", "mayday", "--target", host]);
    if host.ends_with("linux-gnu") {
        // With an explicit target the flags do not reach build scripts and procedural macros,
        // which cannot be static.
        command.env("RUSTFLAGS", "-C target-feature=+crt-static");
    }
    if !process::run(&mut command)? {
        return Ok(ExitCode::FAILURE);
    }
    let name = format!("mayday{}", std::env::consts::EXE_SUFFIX);
    let built = workspace.metadata()?.target_directory.join(host).join("release").join(&name);
    let folder = workspace.root().join("dist");
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let to = folder.join(&name);
    fs::copy(&built, &to).with_context(|| format!("copy {}", built.display()))?;
    process::run_as_task(Command::new(&to).arg("--version"))
}
