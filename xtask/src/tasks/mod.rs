//! The list of tasks. One task is one file in this folder and one line in `Task`.

pub mod bench;
pub mod check;
pub mod codegen;
pub mod compose;
pub mod dist;
pub mod docs;
pub mod image;
pub mod kubernetes;
pub mod soak;
pub mod test;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// Tasks of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
pub struct CommandLine {
    #[command(subcommand)]
    task: Task,
}

/// The only list of tasks.
#[derive(Debug, Subcommand)]
enum Task {
    /// Build and run the benchmarks, and write what they measured.
    Bench(bench::Args),
    /// The gate: every check in order, each failure with its way out.
    Check(check::Args),
    /// Write everything that is generated and committed, or compare it.
    Codegen(codegen::Args),
    /// Hold the compose file, the image and the observers' configurations against our rules.
    Compose(compose::Args),
    /// Build the release binary that is shipped, static where that is possible.
    Dist(dist::Args),
    /// Build the API documentation and check the links of all Markdown files.
    Docs(docs::Args),
    /// Build the image, from a binary of this machine or, as elsewhere, from the sources.
    Image(image::Args),
    /// Hold what is deployed on Kubernetes against its schemas and our rules.
    Kubernetes(kubernetes::Args),
    /// Run every test at its full count in a release build, and prove every scenario.
    Soak(soak::Args),
    /// Run all tests of the workspace.
    Test(test::Args),
}

impl CommandLine {
    /// Runs the chosen task.
    pub fn run(self) -> Result<ExitCode> {
        let workspace = Workspace::here()?;
        match self.task {
            Task::Bench(args) => bench::run(&workspace, &args),
            Task::Check(args) => check::run(&workspace, &args),
            Task::Codegen(args) => codegen::run(&workspace, &args),
            Task::Compose(args) => compose::run(&workspace, &args),
            Task::Dist(args) => dist::run(&workspace, &args),
            Task::Docs(args) => docs::run(&workspace, &args),
            Task::Image(args) => image::run(&workspace, &args),
            Task::Kubernetes(args) => kubernetes::run(&workspace, &args),
            Task::Soak(args) => soak::run(&workspace, &args),
            Task::Test(args) => test::run(&workspace, &args),
        }
    }
}
