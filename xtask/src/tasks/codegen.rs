//! `codegen`: Rust code and descriptor set from the protos, `clippy.toml` files from the bans, and
//! the compose file from the list of kinds.
//! Refuses to overwrite a descriptor set by an incompatible one unless a reason is given.
#![expect(clippy::print_stdout, reason = "a command-line tool reports on the terminal")]

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::protos::{compat, compile};
use crate::workspace::Workspace;
use crate::{checks, clippy_files, compose};

/// Where accepted incompatible changes are written down, below the root.
pub const BREAKING: &str = "proto/BREAKING.md";

const BREAKING_HEADER: &str = "# Incompatible protocol changes\n\n\
    One line per change that was accepted with `cargo xtask codegen --accept-breaking REASON`.\n\n";

/// Options of `codegen`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Write nothing; fail when a committed file differs from what its source generates.
    #[arg(long, conflicts_with = "accept_breaking")]
    check: bool,
    /// Overwrite although the protos broke compatibility; the reason is kept in proto/BREAKING.md.
    #[arg(long, value_name = "REASON")]
    accept_breaking: Option<String>,
}

impl Args {
    /// Accepts an incompatible change for this reason.
    pub fn accepting(reason: &str) -> Self {
        Self { check: false, accept_breaking: Some(reason.to_owned()) }
    }
}

/// Runs the task.
pub fn run(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    if args.check {
        return compare(workspace);
    }
    for path in write(workspace, args)? {
        println!("wrote {path}");
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(workspace: &Workspace) -> Result<ExitCode> {
    let drifts =
        [checks::codegen_drift::CHECK, checks::clippy_drift::CHECK, checks::compose_drift::CHECK];
    let mut passed = true;
    for check in drifts {
        let outcome = (check.run)(workspace)?;
        for line in &outcome.findings {
            println!("{line}");
        }
        passed &= outcome.passed();
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes all generated files; returns the paths that changed.
pub fn write(workspace: &Workspace, args: &Args) -> Result<Vec<String>> {
    let compiled = compile::compile(workspace)?;
    let committed = compile::committed(workspace)?;
    if let Some(old) = committed {
        let new = compiled.as_ref().map(|compiled| compiled.plain.clone()).unwrap_or_default();
        settle(workspace, compat::breaks(&old, &new), args.accept_breaking.as_deref())?;
    }
    let mut generated = compile::generate(workspace, compiled.as_ref())?;
    generated.extend(clippy_files::generate(workspace)?);
    generated.extend(compose::generate(workspace)?);
    generated.write(workspace)
}

/// Refuses broken rules, or writes them down when a reason was given.
fn settle(workspace: &Workspace, breaks: Vec<String>, reason: Option<&str>) -> Result<()> {
    if breaks.is_empty() {
        return Ok(());
    }
    let Some(reason) = reason.map(str::trim).filter(|reason| !reason.is_empty()) else {
        bail!(
            "the protos broke compatibility; nothing was written:\n  {}\n\
             reserve what was removed and give what was added new numbers, or accept it with\n  \
             cargo xtask codegen --accept-breaking \"REASON\"",
            breaks.join("\n  ")
        );
    };
    let path = workspace.path(BREAKING);
    if !path.is_file() {
        fs::write(&path, BREAKING_HEADER).with_context(|| format!("write {BREAKING}"))?;
    }
    let mut file = OpenOptions::new().append(true).open(&path)?;
    let reason = reason.replace('\n', " ");
    writeln!(file, "- {reason}: {}", breaks.join("; "))?;
    println!("noted {} incompatible change(s) in {BREAKING}", breaks.len());
    Ok(())
}
