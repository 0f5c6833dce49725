//! `links`: relative links in Markdown files lead to something that exists.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::Check;
use crate::outcome::{Finding, Outcome};
use crate::source_tree;
use crate::workspace::Workspace;

/// The check.
pub const CHECK: Check =
    Check { name: "links", summary: "relative links in Markdown files resolve", run: check };

fn check(workspace: &Workspace) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for file in source_tree::files(workspace.root(), "md")? {
        let text = fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
        for (line, target) in links(&text) {
            if !resolves(workspace.root(), &file, &target) {
                outcome.find(Finding::new(
                    format!("{}:{line}", workspace.shown(&file)),
                    format!("link to `{target}` leads nowhere"),
                    "correct the path, or create what it promises",
                ));
            }
        }
    }
    Ok(outcome)
}

/// Targets of `[text](target)` and `[label]: target` with their line, outside code.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fence = None;
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| start.starts_with(marker));
        if marker.is_some() && (fence.is_none() || fence == marker) {
            fence = if fence.is_none() { marker } else { None };
            continue;
        }
        if fence.is_none() {
            found.extend(links_of_line(line).into_iter().map(|target| (index + 1, target)));
        }
    }
    found
}

fn links_of_line(line: &str) -> Vec<String> {
    let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
    let mut found = Vec::new();
    let mut rest = prose.as_str();
    while let Some(at) = rest.find("](") {
        rest = &rest[at + 2..];
        let Some(end) = rest.find(')') else { break };
        found.push(target_of(&rest[..end]));
        rest = &rest[end..];
    }
    if let Some((label, target)) = prose.split_once("]: ")
        && label.starts_with('[')
        && !label.starts_with("[^")
    {
        found.push(target_of(target));
    }
    found
}

/// The target without title and angle brackets.
fn target_of(inside: &str) -> String {
    let first = inside.split_whitespace().next().unwrap_or_default();
    first.trim_matches(['<', '>']).to_owned()
}

fn resolves(root: &Path, file: &Path, target: &str) -> bool {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    if path.is_empty() || target.contains("://") || target.starts_with("mailto:") {
        return true;
    }
    match path.strip_prefix('/') {
        Some(absolute) => root.join(absolute).exists(),
        None => file.parent().is_some_and(|folder| folder.join(path).exists()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{CHECK, links};
    use crate::workspace::Workspace;

    #[test]
    fn links_are_found_outside_code() {
        let text = "see [a](a.md) and ![b](b.svg \"title\")\n`[c](c.md)`\n```\n[d](d.md)\n```\n\
                    [e]: e.md\n[f](<f.md>)\n";
        let found = links(text);
        let found: Vec<_> = found.iter().map(|(line, target)| (*line, target.as_str())).collect();
        assert_eq!(found, [(1, "a.md"), (1, "b.svg"), (6, "e.md"), (7, "f.md")]);
    }

    #[test]
    fn a_link_to_nothing_fails_and_others_pass() {
        let folder = tempfile::tempdir().unwrap();
        let text = "[x](missing.md) [y](here.md#part) [z](https://example.org/) [w](#top)";
        fs::write(folder.path().join("here.md"), text).unwrap();
        let outcome = (CHECK.run)(&Workspace::at(folder.path())).unwrap();
        let problems: Vec<_> = outcome.findings.into_iter().map(|one| one.problem).collect();
        assert_eq!(problems, ["link to `missing.md` leads nowhere"]);
    }
}
