//! `check`: runs the list of checks in order, goes on after a failure, and tells the way out of
//! each one.
#![expect(clippy::print_stdout, reason = "a command-line tool reports on the terminal")]

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::checks::{CHECKS, Check};
use crate::outcome::{Finding, Outcome};
use crate::workspace::Workspace;

/// Options of `check`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Names of the checks to run; all of them when none is given.
    names: Vec<String>,
    /// Run all but this one; may be repeated.
    #[arg(long, value_name = "NAME")]
    skip: Vec<String>,
    /// List the checks and run none.
    #[arg(long)]
    list: bool,
}

/// Runs the task.
pub fn run(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    if args.list {
        for check in CHECKS {
            println!("{:<14} {}", check.name, check.summary);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = choose(&args.names, &args.skip)?;
    let mut failed = Vec::new();
    for check in &chosen {
        let outcome = (check.run)(workspace).unwrap_or_else(|error| not_carried_out(&error));
        report(check, &outcome);
        if !outcome.passed() {
            failed.push(check.name);
        }
    }
    if failed.is_empty() {
        println!("all {} checks passed", chosen.len());
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} of {} checks failed: {}", failed.len(), chosen.len(), failed.join(", "));
    Ok(ExitCode::FAILURE)
}

fn choose(names: &[String], skip: &[String]) -> Result<Vec<&'static Check>> {
    for name in names.iter().chain(skip) {
        if !CHECKS.iter().any(|check| check.name == name) {
            bail!("there is no check `{name}`; `cargo xtask check --list` shows them");
        }
    }
    let wanted = |check: &&Check| {
        let name = check.name.to_owned();
        (names.is_empty() || names.contains(&name)) && !skip.contains(&name)
    };
    Ok(CHECKS.iter().filter(wanted).collect())
}

fn not_carried_out(error: &anyhow::Error) -> Outcome {
    let problem = format!("could not be carried out: {error:#}");
    vec![Finding::new("check", problem, "make what it needs available and run it again")].into()
}

fn report(check: &Check, outcome: &Outcome) {
    println!("{} {}", if outcome.passed() { "ok  " } else { "FAIL" }, check.name);
    for note in &outcome.notes {
        println!("  note: {note}");
    }
    for finding in &outcome.findings {
        println!("  {finding}");
    }
}

#[cfg(test)]
mod tests {
    use super::{CHECKS, choose};

    #[test]
    fn checks_are_chosen_by_name() {
        let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(choose(&[], &[]).unwrap().len(), CHECKS.len());
        assert_eq!(choose(&names(&["tidy", "layers"]), &[]).unwrap().len(), 2);
        assert_eq!(choose(&[], &names(&["clippy"])).unwrap().len(), CHECKS.len() - 1);
        assert!(choose(&names(&["tidiness"]), &[]).is_err());
    }
}
