//! `licenses`: every package in the lock file has a license that `deny.toml` allows. The list lives
//! there so that cargo-deny reads the same one; this check needs nothing installed.

use std::fs;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use super::Check;
use crate::outcome::{Finding, Outcome};
use crate::workspace::Workspace;

/// The check.
pub const CHECK: Check =
    Check { name: "licenses", summary: "every package has an allowed license", run: check };

#[derive(Debug, Deserialize)]
struct Deny {
    licenses: Licenses,
}

#[derive(Debug, Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

fn check(workspace: &Workspace) -> Result<Outcome> {
    let text = fs::read_to_string(workspace.path("deny.toml")).context("read deny.toml")?;
    let deny: Deny = toml::from_str(&text).context("read deny.toml")?;
    let mut outcome = Outcome::default();
    for package in &workspace.metadata()?.packages {
        let place = format!("{} {}", package.name, package.version);
        if let Some(problem) = judge(package.license.as_deref(), &deny.licenses.allow) {
            let way_out = "replace the package, or add the license to deny.toml after reading it";
            outcome.find(Finding::new(place, problem, way_out));
        }
    }
    Ok(outcome)
}

/// What is wrong with a license expression, if anything.
fn judge(expression: Option<&str>, allow: &[String]) -> Option<String> {
    let Some(expression) = expression else {
        return Some("states no license expression".to_owned());
    };
    match satisfied(expression, allow) {
        Ok(true) => None,
        Ok(false) => Some(format!("license `{expression}` is not allowed")),
        Err(error) => Some(format!("license `{expression}` cannot be read: {error}")),
    }
}

/// Evaluates an SPDX expression: `OR` needs one side, `AND` both, `/` is an old way to write `OR`,
/// and `X WITH Y` is one license.
fn satisfied(expression: &str, allow: &[String]) -> Result<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut reader = Reader { tokens: spaced.split_whitespace().collect(), at: 0, allow };
    let result = reader.any()?;
    match reader.peek() {
        None => Ok(result),
        Some(extra) => bail!("`{extra}` was not expected"),
    }
}

struct Reader<'a> {
    tokens: Vec<&'a str>,
    at: usize,
    allow: &'a [String],
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).copied()
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<bool> {
        let mut result = self.all()?;
        while self.take("OR") {
            result |= self.all()?;
        }
        Ok(result)
    }

    fn all(&mut self) -> Result<bool> {
        let mut result = self.one()?;
        while self.take("AND") {
            result &= self.one()?;
        }
        Ok(result)
    }

    fn one(&mut self) -> Result<bool> {
        if self.take("(") {
            let result = self.any()?;
            return if self.take(")") { Ok(result) } else { bail!("`)` is missing") };
        }
        let mut license = self.word()?.to_owned();
        if self.take("WITH") {
            license = format!("{license} WITH {}", self.word()?);
        }
        Ok(self.allow.contains(&license))
    }

    fn word(&mut self) -> Result<&'a str> {
        match self.peek() {
            Some(word) if !["(", ")", "OR", "AND", "WITH"].contains(&word) => {
                self.at += 1;
                Ok(word)
            }
            other => bail!("a license is missing before `{}`", other.unwrap_or("the end")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn expressions_are_judged() {
        let allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "ISC"];
        let allow = allow.map(str::to_owned);
        let rows = [
            (Some("MIT"), None),
            (Some("MIT OR GPL-3.0-only"), None),
            (Some("GPL-3.0-only/MIT"), None),
            (Some("(MIT OR GPL-3.0-only) AND ISC"), None),
            (Some("Apache-2.0 WITH LLVM-exception"), None),
            (Some("MIT AND GPL-3.0-only"), Some("is not allowed")),
            (Some("GPL-3.0-only"), Some("is not allowed")),
            // `AND` binds tighter than `OR`.
            (Some("GPL-3.0-only AND MIT OR ISC"), None),
            (Some("GPL-3.0-only AND (MIT OR ISC)"), Some("is not allowed")),
            (Some("MIT WITH LLVM-exception"), Some("is not allowed")),
            (Some("(MIT"), Some("`)` is missing")),
            (Some("MIT ISC"), Some("`ISC` was not expected")),
            (Some("MIT OR"), Some("a license is missing")),
            (None, Some("states no license")),
        ];
        for (expression, wanted) in rows {
            let problem = judge(expression, &allow);
            match wanted {
                None => assert_eq!(problem, None, "{expression:?}"),
                Some(part) => {
                    let problem = problem.unwrap_or_default();
                    assert!(problem.contains(part), "{expression:?}: {problem:?}");
                }
            }
        }
    }
}
