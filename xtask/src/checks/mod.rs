//! The list of checks, in the order in which they run. One check is one file (or folder) here and
//! one line in [`CHECKS`].

pub mod clippy;
pub mod clippy_drift;
pub mod codegen_drift;
pub mod compose_drift;
pub mod format;
pub mod layers;
pub mod licenses;
pub mod links;
pub mod lists;
pub mod proto_compat;
pub mod tidy;

use anyhow::Result;

use crate::outcome::Outcome;
use crate::workspace::Workspace;

/// One gate of `cargo xtask check`.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Name on the command line.
    pub name: &'static str,
    /// What it holds, in one line.
    pub summary: &'static str,
    /// The check itself. An error means that it could not be carried out.
    pub run: fn(&Workspace) -> Result<Outcome>,
}

/// The only list of checks.
pub const CHECKS: &[Check] = &[
    format::CHECK,
    clippy::CHECK,
    layers::CHECK,
    licenses::CHECK,
    tidy::CHECK,
    lists::CHECK,
    links::CHECK,
    codegen_drift::CHECK,
    clippy_drift::CHECK,
    compose_drift::CHECK,
    proto_compat::CHECK,
];
