//! Bad input: one clear line with the way out on stderr, nothing on stdout, and the exit code.

use crate::kit::{LIBRARY, command, mayday};
use std::net::TcpListener;

#[test]
fn bad_input_is_answered_with_the_way_out() {
    let lab = |more: &[&'static str]| -> Vec<&'static str> {
        ["run", "--library", LIBRARY].iter().chain(more).copied().collect()
    };
    let rows: Vec<(Vec<&str>, i32, &str)> = vec![
        (vec![], 2, "Usage: mayday"),
        (vec!["frobnicate"], 2, "unrecognized subcommand"),
        (lab(&["broken-relase"]), 2, "did you mean `lab/broken-release`"),
        (lab(&["nowhere.yaml"]), 2, "nowhere.yaml: No such file"),
        (lab(&["--agents", "refrence"]), 2, "did you mean `reference`"),
        (lab(&["--seeds", "9..3"]), 2, "the range `9..3` is empty"),
        (lab(&["--seeds", "many"]), 2, "`many` is no seed"),
        (lab(&["--threads", "0"]), 2, "0 is not in 1..=256"),
        (lab(&["--records", "/nowhere/at/all.db"]), 2, "the folder does not exist"),
        (lab(&["--records", "/tmp"]), 2, "is a folder"),
        (lab(&["--records", "/dev/full"]), 2, "the disk is full"),
        (lab(&["--records", LIBRARY]), 2, "is a folder"),
        (lab(&["--resume"]), 2, "add --records PATH"),
        (lab(&["--component", "db"]), 2, "expected KIND=HOST:PORT"),
        (lab(&["--component", "dbb=h:1"]), 2, "did you mean `db`"),
        (lab(&["--component", "db=h:1"]), 2, "no address for app, gateway, host"),
        (lab(&["--fleet", "embedded", "--component", "db=h:1"]), 2, "leave one of them out"),
        (lab(&["--log", "a=b=c"]), 2, "expected a level such as `info`"),
        (vec!["run", "--library", "/nowhere"], 2, "has to hold the folders"),
        (vec!["scenario", "show", "retry-strom"], 2, "did you mean"),
        (vec!["scenario", "check", "--search", "all"], 2, "expected none, singles, or pairs:N"),
        (vec!["replay", "nowhere.jsonl"], 2, "no such file"),
        (vec!["replay", "00000000000000ff"], 2, "--records DB"),
        (vec!["replay", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")], 2, "line 1"),
        (vec!["fork", "nowhere.jsonl", "--at", "1"], 2, "no such file"),
        (vec!["records", "list", "--records", "/nowhere.db"], 2, "mayday run --records"),
        (vec!["component", "dbb"], 2, "did you mean `db`"),
        (vec!["component", "db", "--listen", "here"], 2, "invalid socket address"),
        (vec!["up", "--kinds", "db,cahce"], 2, "unknown kind `cahce`"),
        (vec!["orchestrator", "--grader", "a b"], 2, "is not an address"),
        (vec!["serve", "--control", "here"], 2, "or off"),
        (vec!["serve", "--dialect", "sentinal"], 2, "did you mean `sentinel`"),
        (vec!["serve", "--dialect-listen", "sentinel"], 2, "expected NAME=ADDRESS"),
        (vec!["serve", "--dialect", "sentinel", "--evaluate"], 2, "an evaluation hides"),
        (vec!["serve", "--dialect", "sentinel", "--library", LIBRARY], 1, "unknown scenario"),
        (vec!["health", "127.0.0.1:1"], 1, "gave no answer"),
        (vec!["health", "--agents", "127.0.0.1:1"], 1, "gave no answer"),
    ];
    for (args, code, says) in rows {
        let output = mayday(&args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {says:?} in {said}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert!(!said.contains("panicked") && !said.contains("RUST_BACKTRACE"), "{said}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn results_that_cannot_be_written_are_no_success() {
    for args in [
        &["scenario", "schema"][..],
        &["scenario", "list"],
        &["--help"],
        &["run", "--library", LIBRARY, "--agents", "noop", "--seeds", "1", "--json"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(args).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("stdout cannot be written"), "{args:?}: {said}");
    }
}

#[test]
fn a_taken_port_and_an_unreachable_component_are_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for role in [&["component", "db"][..], &["orchestrator"], &["grader"]] {
        let output = mayday(&[role, &["--listen", &address]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("{address} is in use")), "{said}");
    }
    drop(taken);
    let peers = ["app", "gateway", "host"].map(|kind| format!("{kind}={address}"));
    let mut args = vec!["run", "--library", LIBRARY];
    peers.iter().for_each(|peer| args.extend(["--component", peer]));
    let output = mayday(&args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("does not answer") && said.contains("mayday component"), "{said}");
}

#[test]
fn a_token_that_cannot_travel_is_refused() {
    let args = ["grader", "--listen", "127.0.0.1:0"];
    let output = command(&args).env("MAYDAY_TOKEN", "two words").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("MAYDAY_TOKEN") && !said.contains("two words"), "{said}");
}

#[test]
fn help_explains_every_command() {
    let output = mayday(&["--help"]);
    let help = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    let commands = [
        "run",
        "scenario",
        "replay",
        "fork",
        "records",
        "up",
        "component",
        "orchestrator",
        "grader",
        "health",
    ];
    for name in commands {
        assert!(help.contains(&format!("\n  {name} ")), "{name} in {help}");
        let own = mayday(&[name, "--help"]);
        assert_eq!(own.status.code(), Some(0), "{name}");
        assert!(String::from_utf8_lossy(&own.stdout).contains("Usage: mayday"), "{name}");
    }
}
