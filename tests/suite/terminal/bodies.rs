//! A line acts on the world as typed actions do, in every body alike, and its record plays again to
//! its own digests.

use crate::common::{all_scenarios, run};
use crate::determinism::{Row, assert_equal, embedded, play};
use action::Action;
use fleet::{Links, RemoteConfig, RemoteFleet};
use model::Params;

fn row(lines: &[&str]) -> Row {
    let named = |s: &&std::sync::Arc<scenario::Scenario>| s.name == "process/dead-unit";
    let scenario = all_scenarios().iter().find(named).expect("shipped").clone();
    let line = |line: &&str| {
        let args = Params::default().with("host", "hall-2").with("command", *line);
        Action::new("shell", &args).expect("fits")
    };
    let plan = lines.iter().map(line).collect();
    Row { scenario, seed: 0, plan }
}

#[test]
fn a_dead_unit_is_found_and_started_in_every_body_alike() {
    let row = row(&[
        "systemctl --failed; cd /var/log; journalctl -u till -n 3",
        "echo systemctl start till",
        "systemctl is-active till; pwd",
        "curl -s -m 2 http://till/; systemctl start till",
        "systemctl is-active till && ss -ltnp; kubectl get pods",
    ]);
    let here = embedded(&row);
    let links = Links::in_memory(fleet::parts(), chassis::Limits::default());
    let there = run(play(RemoteFleet::new(links, RemoteConfig::default()), &row));
    assert_equal(&row, &here, &there);
    let reads = here.reads();
    assert!(reads.contains("till.service loaded failed failed"), "{reads}");
    assert!(
        reads.contains(r"failed\n/var/log\n"),
        "talk starts nothing, and one stays in a folder"
    );
    assert!(reads.contains(r"active\nState"), "the started unit runs: {reads}");
}
