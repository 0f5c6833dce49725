//! Every recorded episode of the originals, against its verdict in `tests/vectors/expect.yaml`.

use crate::kit::Site;
use crate::players::PLAYERS;
use crate::verdict::{Kind, Verdicts};
use mayday::dialects;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors");
/// All systems of which there are vectors.
const SYSTEMS: [(&str, &str); 4] = [
    ("incident-sim", "incident_sim"),
    ("netarena", "netarena"),
    ("sentinel", "sentinel"),
    ("triage", "triage"),
];

fn verdicts() -> Verdicts {
    let text = std::fs::read_to_string(format!("{FOLDER}/expect.yaml")).expect("the verdicts");
    serde_saphyr::from_str(&text).expect("verdicts as they are to be")
}

fn recorded(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(format!("{FOLDER}/{file}.jsonl")).expect("the vectors");
    text.lines().map(|line| serde_json::from_str(line).expect("a vector")).collect()
}

fn id(vector: &Value) -> &str {
    vector["id"].as_str().expect("an id")
}

#[tokio::test]
async fn recorded_episodes_come_to_their_verdicts() {
    let verdicts = verdicts();
    let (mut report, mut wrong) = (String::new(), Vec::new());
    for (dialect, file) in SYSTEMS {
        let vectors = recorded(file);
        let Some((_, _, player)) = PLAYERS.iter().find(|(name, ..)| *name == dialect) else {
            assert!(dialects::find(dialect).is_none(), "{dialect} has no player of its vectors");
            let _ = writeln!(report, "{dialect}: no dialect yet, {} vectors", vectors.len());
            continue;
        };
        let site = Site::of(dialect).await;
        let (mut counts, mut departures) = (BTreeMap::<Kind, u32>::new(), String::new());
        for vector in &vectors {
            let Some(expected) = verdicts.get(id(vector)) else {
                wrong.push(format!("{}: has no verdict in expect.yaml", id(vector)));
                continue;
            };
            let played = player(&site, vector).await;
            let judged = expected.judge(&played);
            wrong.extend(judged.iter().map(|one| format!("{}: {one}", id(vector))));
            *counts.entry(expected.verdict).or_default() += 1;
            if expected.verdict != Kind::Exact {
                let (kind, reason) = (expected.verdict, expected.reason.trim());
                let score = played.score.map(|score| format!(", scores {score:.4}"));
                let score = score.unwrap_or_default();
                let _ = writeln!(departures, "  {}: {kind:?}{score}: {reason}", id(vector));
            }
        }
        let count = |kind| counts.get(&kind).copied().unwrap_or(0);
        let _ = writeln!(
            report,
            "{dialect}: {} exact, {} refused, {} accepted, {} error, {} not compared",
            count(Kind::Exact),
            count(Kind::Refused),
            count(Kind::Accepted),
            count(Kind::Error),
            count(Kind::OrderDependent),
        );
        report += &departures;
    }
    say(&report);
    assert!(wrong.is_empty(), "\n{report}\n{}", wrong.join("\n"));
}

#[expect(clippy::print_stdout, reason = "the report is what one runs this for")]
fn say(report: &str) {
    println!("{report}");
}

#[test]
fn verdicts_are_of_vectors_and_exploits_are_never_exact_by_accident() {
    let verdicts = verdicts();
    let all: Vec<_> = SYSTEMS.iter().flat_map(|(_, file)| recorded(file)).collect();
    for name in verdicts.keys() {
        assert!(all.iter().any(|vector| id(vector) == name), "{name} is no vector");
    }
    for (name, expected) in &verdicts {
        let bounds = (expected.at_most.is_some(), expected.at_least.is_some());
        let fits = match expected.verdict {
            Kind::Refused => (true, false),
            Kind::Accepted => (false, true),
            _ => (false, false),
        };
        assert_eq!(bounds, fits, "{name}");
    }
}
