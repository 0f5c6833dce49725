//! `compose`: what is deployed by Compose, as each client on this machine resolves it, held against
//! rules of our own; the Dockerfile against the toolchain and the workspace; and the configurations
//! of the observers against each other, against what is exported, and against promtool.
#![expect(clippy::print_stdout, reason = "a command-line tool reports on the terminal")]

use std::fs;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::compose::{FILE, dockerfile, kinds, observers, rules};
use crate::process;
use crate::workspace::Workspace;

/// The clients that have to understand the file.
const CLIENTS: [&[&str]; 2] = [&["docker", "compose"], &["docker-compose"]];

/// Options of `compose`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {}

/// Runs the task.
pub fn run(workspace: &Workspace, _: &Args) -> Result<ExitCode> {
    let kinds = kinds(workspace)?;
    let mut faults = dockerfile::faults(workspace)?;
    faults.extend(observers::faults(workspace)?);
    for client in CLIENTS {
        match resolved(workspace, client)? {
            Some(file) => faults.extend(rules::faults(&file, &kinds)),
            None => println!("test skipped: {FILE}: {} is not installed", client.join(" ")),
        }
    }
    for fault in &faults {
        println!("{fault}");
    }
    let passed = promtool(workspace)?;
    println!("{} kinds, {} broken rules", kinds.len(), faults.len());
    Ok(if passed && faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The file with every default and every profile, as the client understands it.
fn resolved(workspace: &Workspace, client: &[&str]) -> Result<Option<Value>> {
    let command = || {
        let mut command = Command::new(client[0]);
        command.args(&client[1..]).env("MAYDAY_TOKEN", "s3cret");
        command
    };
    if !command().arg("version").output().is_ok_and(|output| output.status.success()) {
        return Ok(None);
    }
    let mut config = command();
    config.arg("-f").arg(workspace.path(FILE)).args(["--profile", "observability", "config"]);
    let text = String::from_utf8(process::output(&mut config)?)?;
    let file: Value = serde_saphyr::from_str(&text).context("read what the client resolved")?;
    if file["services"].as_object().is_none_or(serde_json::Map::is_empty) {
        bail!("{}: no services in what it resolved", client.join(" "));
    }
    Ok(Some(file))
}

/// Prometheus on its own configuration. Before version 3 it does not know what is set for OTLP.
fn promtool(workspace: &Workspace) -> Result<bool> {
    let Ok(version) = Command::new("promtool").arg("--version").output() else {
        println!("test skipped: {}: promtool is not installed", observers::PROMETHEUS);
        return Ok(true);
    };
    let text = fs::read_to_string(workspace.path(observers::PROMETHEUS))?;
    let old = String::from_utf8_lossy(&version.stdout).contains("version 2.");
    let text = if old { text.split("\notlp:").next().unwrap_or_default() } else { &*text };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("prometheus.yaml");
    fs::write(&file, text)?;
    process::run(Command::new("promtool").args(["check", "config"]).arg(&file))
}
