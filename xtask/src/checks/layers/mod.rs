//! `layers`: who may import whom. The table is data in `table`; the facts come from
//! `cargo metadata`; the judgement is a pure function of both.

mod facts;
mod table;

#[cfg(test)]
mod tests;

use anyhow::Result;

use super::Check;
use crate::outcome::{Finding, Outcome};
use crate::workspace::Workspace;

pub use facts::CrateFacts;
pub use table::{Layer, NO_RUNTIME, TABLE};

/// The check.
pub const CHECK: Check =
    Check { name: "layers", summary: "crates import only what their layer may", run: check };

fn check(workspace: &Workspace) -> Result<Outcome> {
    let facts = facts::collect(workspace)?;
    let mut outcome = Outcome::from(violations(TABLE, &facts));
    for layer in TABLE {
        if !facts.iter().any(|one| one.folder_matches(layer.folder)) {
            outcome.note(format!("{} does not exist yet", layer.folder));
        }
    }
    Ok(outcome)
}

/// Every import that `table` does not allow.
pub fn violations(table: &[Layer], crates: &[CrateFacts]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for one in crates {
        let Some(layer) = table.iter().find(|layer| one.folder_matches(layer.folder)) else {
            findings.push(Finding::new(
                &one.folder,
                "has no row in the table of layers",
                "say what it may import in xtask/src/checks/layers/table.rs",
            ));
            continue;
        };
        judge_ours(one, layer, crates, &mut findings);
        judge_externals(one, layer, &mut findings);
    }
    findings
}

/// Our crates: an import must be in the row.
fn judge_ours(one: &CrateFacts, layer: &Layer, crates: &[CrateFacts], findings: &mut Vec<Finding>) {
    for import in &one.ours {
        let Some(imported) = crates.iter().find(|other| other.name == *import) else { continue };
        if !layer.may.iter().any(|folder| imported.folder_matches(folder)) {
            findings.push(Finding::new(
                &one.folder,
                format!("imports {}, which its layer may not", imported.folder),
                format!("it may import {}; move the code or pass a value", in_words(layer.may)),
            ));
        }
    }
}

/// Crates of others: some may not be reached at all, some not be imported directly.
fn judge_externals(one: &CrateFacts, layer: &Layer, findings: &mut Vec<Finding>) {
    for (external, way) in &one.reached {
        if layer.never_reach.contains(&external.as_str()) {
            findings.push(Finding::new(
                &one.folder,
                format!("reaches {external} ({way})"),
                "this layer computes and does no IO: move what needs a runtime to a shell",
            ));
        }
    }
    for external in &one.externals {
        if layer.never_import.contains(&external.as_str()) {
            findings.push(Finding::new(
                &one.folder,
                format!("imports {external}"),
                "this layer may use it only behind another crate's interface",
            ));
        }
    }
}

fn in_words(folders: &[&str]) -> String {
    if folders.is_empty() { "nothing of ours".to_owned() } else { folders.join(", ") }
}
