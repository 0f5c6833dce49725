//! `proto-compat`: the protos still read what the committed descriptor set wrote.

use anyhow::Result;

use super::Check;
use crate::outcome::{Finding, Outcome};
use crate::protos::{compat, compile};
use crate::workspace::Workspace;

/// The check.
pub const CHECK: Check =
    Check { name: "proto-compat", summary: "no proto change breaks its readers", run: check };

fn check(workspace: &Workspace) -> Result<Outcome> {
    let Some(old) = compile::committed(workspace)? else {
        let mut outcome = Outcome::default();
        outcome.note(format!("skipped: there is no {} yet", compile::DESCRIPTOR));
        return Ok(outcome);
    };
    let new = compile::compile(workspace)?.map(|compiled| compiled.plain).unwrap_or_default();
    let way_out = "reserve the number and use a new one, or accept the break: \
                   `cargo xtask codegen --accept-breaking \"REASON\"`";
    let sentences = compat::breaks(&old, &new).into_iter();
    let findings: Vec<_> =
        sentences.map(|sentence| Finding::new("proto", sentence, way_out)).collect();
    Ok(findings.into())
}
