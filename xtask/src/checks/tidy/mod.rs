//! `tidy`: size limits and habits that no lint knows. Offences that cannot be removed at once go
//! on the list in `ratchet`, which may only shrink.

mod crates;
mod lines;
mod ratchet;
mod syntax;

#[cfg(test)]
mod tests;

use std::fs;

use anyhow::{Context as _, Result};

use super::Check;
use crate::outcome::{Finding, Outcome};
use crate::protos::compile::GENERATED_FOLDER;
use crate::source_tree;
use crate::workspace::Workspace;

/// The check.
pub const CHECK: Check =
    Check { name: "tidy", summary: "headers, sizes and habits of every source file", run: check };

/// Lines of a source file.
const FILE_LINES_MAX: usize = 600;
/// Lines of a function, from its signature to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;
/// Characters of a line.
const LINE_CHARS_MAX: usize = 100;
/// Lines of a `main.rs`.
const MAIN_LINES_MAX: usize = 40;

/// One departure from a rule.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Offence {
    /// Name of the rule, as the ratchet has it.
    rule: &'static str,
    /// Line in the file.
    line: usize,
    /// How large the offender is; 1 where there is nothing to measure.
    size: usize,
    problem: String,
    way_out: &'static str,
}

fn check(workspace: &Workspace) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut pardons = ratchet::Pardons::of(ratchet::RATCHET);
    for file in source_tree::files(workspace.root(), "rs")? {
        let path = workspace.shown(&file);
        if path.starts_with(GENERATED_FOLDER) {
            continue;
        }
        let text = fs::read_to_string(&file).with_context(|| format!("read {path}"))?;
        for offence in offences(&path, &text) {
            if !pardons.cover(&path, &offence) {
                let place = format!("{path}:{}", offence.line);
                outcome.find(Finding::new(place, offence.problem, offence.way_out));
            }
        }
    }
    outcome.findings.extend(pardons.to_tighten());
    outcome.findings.extend(crates::check(workspace)?);
    Ok(outcome)
}

/// Every offence of one file.
fn offences(path: &str, text: &str) -> Vec<Offence> {
    let mut found = lines::offences(path, text);
    match syn::parse_file(text) {
        Ok(file) => found.extend(syntax::offences(path, &file)),
        Err(error) => found.push(Offence {
            rule: "syntax",
            line: error.span().start().line,
            size: 1,
            problem: format!("cannot be parsed: {error}"),
            way_out: "correct the syntax",
        }),
    }
    found.sort_by_key(|offence| offence.line);
    found
}
