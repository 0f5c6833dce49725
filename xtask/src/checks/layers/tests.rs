//! The layers of this repository hold, and the judgement can fail.

use super::{CHECK, CrateFacts, TABLE, violations};
use crate::workspace::Workspace;

fn facts(name: &str, folder: &str, ours: &[&str], reached: &[&str]) -> CrateFacts {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    CrateFacts {
        name: name.to_owned(),
        folder: folder.to_owned(),
        ours: owned(ours),
        externals: owned(reached),
        reached: reached.iter().map(|&to| (to.to_owned(), format!("{name} -> {to}"))).collect(),
    }
}

fn problems(crates: &[CrateFacts]) -> Vec<String> {
    violations(TABLE, crates).into_iter().map(|finding| finding.problem).collect()
}

#[test]
fn this_repository_keeps_its_layers() {
    let outcome = (CHECK.run)(&Workspace::here().unwrap()).unwrap();
    assert!(outcome.passed(), "{:#?}", outcome.findings);
}

#[test]
fn an_import_outside_the_row_is_found() {
    let crates = [
        facts("fault", "crates/fault", &[], &[]),
        facts("action", "crates/action", &["fault"], &[]),
    ];
    assert_eq!(problems(&crates), ["imports crates/fault, which its layer may not"]);
}

#[test]
fn kinds_may_not_import_each_other_but_the_fleet_may() {
    let db = || facts("db", "services/db", &[], &[]);
    let app = facts("app", "services/app", &["db"], &[]);
    assert_eq!(problems(&[db(), app]), ["imports services/db, which its layer may not"]);
    assert!(problems(&[db(), facts("fleet", "crates/fleet", &["db"], &[])]).is_empty());
}

#[test]
fn the_grader_is_no_kind() {
    let grader = || facts("grader", "services/grader", &[], &[]);
    let fleet = facts("fleet", "crates/fleet", &["grader"], &[]);
    assert_eq!(problems(&[grader(), fleet]), ["imports services/grader, which its layer may not"]);
}

#[test]
fn nobody_may_import_the_orchestrator() {
    let crates = [
        facts("mayday", "orchestrator", &[], &[]),
        facts("grader", "services/grader", &["mayday"], &[]),
    ];
    assert_eq!(problems(&crates), ["imports orchestrator, which its layer may not"]);
}

#[test]
fn a_runtime_below_a_pure_crate_is_found_with_the_way_to_it() {
    let flow = facts("flow", "crates/flow", &[], &["libm", "tokio"]);
    assert_eq!(problems(&[flow]), ["reaches tokio (flow -> tokio)"]);
}

#[test]
fn the_engine_may_reach_tonic_but_not_name_it() {
    let mut episode = facts("episode", "crates/episode", &[], &["tonic"]);
    assert_eq!(problems(std::slice::from_ref(&episode)), ["imports tonic"]);
    episode.externals.clear();
    assert!(problems(&[episode]).is_empty());
}

#[test]
fn a_crate_without_a_row_is_found() {
    let stray = facts("stray", "crates/stray", &[], &[]);
    assert_eq!(problems(&[stray]), ["has no row in the table of layers"]);
}
