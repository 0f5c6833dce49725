//! `codegen-drift`: the committed code and descriptor set are what the protos generate.

use anyhow::Result;

use super::Check;
use crate::outcome::Outcome;
use crate::protos::compile;
use crate::workspace::Workspace;

/// The check.
pub const CHECK: Check = Check {
    name: "codegen-drift",
    summary: "generated code equals what the protos generate",
    run: check,
};

fn check(workspace: &Workspace) -> Result<Outcome> {
    let compiled = compile::compile(workspace)?;
    let generated = compile::generate(workspace, compiled.as_ref())?;
    let mut outcome = Outcome::from(generated.findings(workspace)?);
    if compiled.is_none() {
        outcome.note("there is no .proto file below proto/ yet");
    }
    Ok(outcome)
}
