//! `mayday run` in one process, and what there is to play.

use crate::kit::{LIBRARY, SCENARIO, episode, json, mayday, out, run};

#[test]
fn the_reference_scores_one_and_doing_nothing_scores_zero() {
    let document = json(&run(&["--agents", "reference,noop", "--seeds", "3", "--json"]));
    assert_eq!(document["complete"], true);
    assert_eq!(document["episodes"].as_array().unwrap().len(), 6);
    for episode in document["episodes"].as_array().unwrap() {
        let score = episode["score"].as_f64().unwrap();
        let expected = if episode["agent"] == "reference" { 1.0 } else { 0.0 };
        assert!((score - expected).abs() < 1e-9, "{episode}");
        let terms = episode["terms"].as_array().unwrap().iter();
        let sum: f64 = terms.map(|term| term["value"].as_f64().unwrap()).sum();
        assert!((sum - score).abs() < 1e-9, "the terms add up: {episode}");
        let paid = episode["rewards"].as_array().unwrap().iter();
        let paid: f64 = paid.map(|reward| reward.as_f64().unwrap()).sum();
        assert!((paid - score).abs() < 1e-9, "the rewards add up: {episode}");
    }
    let reference = episode(&document, "reference");
    assert_eq!(reference["impact"], reference["impact_reference"]);
    assert_eq!(reference["end"], "resolved");
    assert_eq!(episode(&document, "noop")["end"], "horizon");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let play = |threads| out(&run(&["--seeds", "0..3", "--json", "--threads", threads]));
    assert_eq!(play("1"), play("4"));
}

#[test]
fn final_rewards_are_paid_at_the_end_and_scores_are_the_same() {
    let play =
        |mode| json(&run(&["--agents", "reference", "--seeds", "1", "--json", "--reward", mode]));
    let (dense, last) = (play("dense"), play("final"));
    let (dense, last) = (episode(&dense, "reference"), episode(&last, "reference"));
    assert_eq!(dense["score"], last["score"]);
    let (paid, all) = (last["rewards"].as_array().unwrap(), dense["rewards"].as_array().unwrap());
    assert_eq!(paid.len(), all.len());
    let (end, before) = paid.split_last().unwrap();
    assert!(before.iter().all(|reward| reward == 0.0) && *end == last["score"], "{paid:?}");
    assert!(all.iter().filter(|reward| reward.as_f64() > Some(0.0)).count() > 1, "{all:?}");
}

#[test]
fn tables_have_a_row_for_every_agent_and_every_scenario() {
    let table = out(&run(&["--seeds", "2", "--per-scenario"]));
    let agents =
        ["reference", "noop", "random", "restart-all", "rollback-all", "scale-all", "shed-half"];
    for agent in agents {
        assert!(table.lines().any(|line| line.contains(&format!("│ {agent} "))), "{table}");
    }
    assert!(table.contains(SCENARIO), "{table}");
    assert!(table.contains("1.000 ± 0.000"), "{table}");
}

#[test]
fn scenarios_are_listed_shown_and_checked() {
    assert!(out(&["scenario", "list", "--library", LIBRARY]).contains(SCENARIO));
    let listed = json(&["scenario", "list", "--json"]);
    let dialect = |name: &str| {
        let of = listed.as_array().unwrap().iter().find(|one| one["name"] == name);
        of.expect("it is shipped")["dialect"].clone()
    };
    assert_eq!(dialect("sentinel/api-recovery"), "sentinel");
    assert!(dialect("change/bad-deploy").is_null());
    let shown = out(&["scenario", "show", "broken-release", "--library", LIBRARY]);
    for part in ["fault bad_deploy", "reference plan", "users → gateway", "page "] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let checked = out(&["scenario", "check", "--library", LIBRARY, "--seeds", "4"]);
    assert!(checked.starts_with("lab/broken-release: ok, 4 seeds"), "{checked}");
    for schema in [&["scenario", "schema"][..], &["scenario", "schema", "--topology"]] {
        assert!(json(schema)["properties"].is_object());
    }
}

#[test]
fn findings_and_broken_files_are_said_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(format!("{LIBRARY}/scenarios/{SCENARIO}.yaml")).unwrap();
    let check = |text: &str| {
        let file = folder.path().join("case.yaml");
        std::fs::write(&file, text).unwrap();
        let file = file.display().to_string();
        let args = ["scenario", "check", &file, "--library", LIBRARY, "--seeds", "2"];
        let output = mayday(&args);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(check(&text).0, Some(0));
    let (code, said) = check(&text.replace("stake: 100", "stake: 99999"));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("2 seeds (0, 1)") && said.contains("less apart than"), "{said}");
    let (code, said) = check(&text.replace("fault: bad_deploy", "fault: bad_deplyo"));
    assert_eq!(code, Some(1), "{said}");
    let line = 1 + text.lines().position(|line| line.contains("bad_deploy")).unwrap();
    assert!(said.contains(&format!("case.yaml:{line}:")), "{said}");
    assert!(said.contains("did you mean `bad_deploy`") && said.contains("^"), "{said}");
}
